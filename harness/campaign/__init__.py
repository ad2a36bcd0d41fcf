"""What all runs share: their record, how a trial is stored, repeats, the order of turns."""
