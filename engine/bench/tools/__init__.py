"""What several rows of the benchmark use."""
