"""How loads are offered: one file for each kind, whose stored half is in contracts/load."""
