"""Sessions: one server on a test bed with a load, and the trials that are made with them."""
