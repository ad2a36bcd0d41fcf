"""Data types and protocols that several packages speak; nothing here imports any of them."""
