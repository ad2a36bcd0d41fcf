"""Publications of the field: their figures, recomputed and beside what was measured here."""
