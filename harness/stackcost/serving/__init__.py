"""The serving side of a turn: the system under test, what it stands on, and what reads it."""
