"""The two sides of a turn on one machine: the server under test, and the generator; what they
stand on, and what reads them.
"""
