"""Runs an experiment: every server gets the same load, in turn, in several rounds."""
