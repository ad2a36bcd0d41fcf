"""The answer for people: a table on the terminal, and a notebook rendered to one HTML file."""
