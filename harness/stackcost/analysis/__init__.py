"""From stored trials to figures. Nothing here reads a machine, so any stored run can be redone."""
