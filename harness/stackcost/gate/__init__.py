"""The pytest gate: measures rates of connections/s, compares them, and keeps a history."""
