"""The pytest gate: measures ceilings of connections/s, compares them, and keeps a history."""
