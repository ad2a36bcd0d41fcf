"""Whether a trial may be believed, and what held it up."""
