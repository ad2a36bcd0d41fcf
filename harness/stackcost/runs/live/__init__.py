"""A page and metrics of a run while it goes on (`--live`)."""
