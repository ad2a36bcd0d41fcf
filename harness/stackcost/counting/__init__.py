"""Counts instructions instead of timing: an emulated guest whose clock is its count."""
