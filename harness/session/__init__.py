"""One server on a test bed with a load in front of it, and the trials that are made there."""
