"""The loading side of a turn: the generators of ASTF profiles, and what they stand on."""
