"""What happens to a device under test when its state is exhausted, or its link is cut."""
