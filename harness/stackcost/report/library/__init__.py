"""Stored runs as pandas tables, for notebooks and for your own analysis."""
