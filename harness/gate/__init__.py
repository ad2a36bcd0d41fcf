"""Ceilings of connections per second, kept by pytest: measured, judged, remembered."""
