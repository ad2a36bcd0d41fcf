"""The contents of an experiment file, and the systems that it compares."""
