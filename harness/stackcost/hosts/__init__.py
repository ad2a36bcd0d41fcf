"""Sides of a test bed on other hosts: an agent there, and a proxy here that speaks to it."""
