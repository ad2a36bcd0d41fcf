"""The server of a turn: the system under test, what it stands on, and what reads it."""
