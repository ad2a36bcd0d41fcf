"""Servers and generators on other hosts: the agent there, and the proxies that call it."""
