"""Devices under test: what may stand between the generator's client port and its server port."""
