"""Tests of a device under test: its state table is full, or its link is cut."""
