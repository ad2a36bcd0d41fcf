"""Runs an experiment: every server meets the same load, in turn, in several rounds."""
