"""Publications of the field: their figures, beside what was measured here."""
