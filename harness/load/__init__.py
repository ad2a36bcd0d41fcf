"""The load: ASTF servers that make it, and TRex's own client that drives them."""
