"""Finds systems under test by name or by the path of a file."""
