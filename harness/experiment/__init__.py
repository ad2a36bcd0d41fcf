"""What an experiment file says, and which systems it compares."""
