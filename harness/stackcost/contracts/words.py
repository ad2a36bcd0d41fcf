"""Numbers with their nouns, in all that is said of a run."""


def count(number_of: float, one: str, more: str = "") -> str:
    """A whole number with its noun, such as "1 search" and "2 searches"."""
    return f"{number_of:,.0f} {one if number_of == 1 else more or one + 's'}"
