"""Self-check: compares the suite's figures with values that are known beforehand."""
