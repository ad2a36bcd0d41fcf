"""Virtual machines that this machine makes and boots, to be hosts of a test bed."""
