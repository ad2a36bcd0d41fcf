"""Which systems under test there are, by name or by the path of a file."""
