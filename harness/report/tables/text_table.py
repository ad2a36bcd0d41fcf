"""A table as text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextTable:
    """A title, column names, and rows of as many cells."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
