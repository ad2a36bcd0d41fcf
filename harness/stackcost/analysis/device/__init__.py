"""What only devices under test have: mixed traffic, events."""
