"""Data types and protocols that several packages share; nothing here imports these packages."""
