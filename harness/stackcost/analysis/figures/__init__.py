"""Every figure of a summary, declared once, by subject."""
