"""Servers and generators on other hosts: the agent there, and the stubs that call it."""
