"""What a connection takes of the cores: from exact times and counts of a phase to its cost."""
