"""Collectors: each reads one source of figures on this machine and changes nothing."""
