"""Devices under test, which are placed between the generator's client port and server port."""
