"""The load of a turn: the generators of ASTF profiles, and what they stand on."""
