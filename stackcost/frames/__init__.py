"""Stored runs as pandas tables, for notebooks and for other people's own analysis."""
