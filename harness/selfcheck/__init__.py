"""Proof that the figures are true: what is known beforehand against what the suite reports."""
