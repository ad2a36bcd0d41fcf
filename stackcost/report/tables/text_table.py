"""A table as text."""

from dataclasses import dataclass

from stackcost.report.words import UNKNOWN


@dataclass(frozen=True, slots=True)
class TextTable:
    """A title, column names, and rows of as many cells.

    `named`: so many first columns only name the row; `reason`: why the others are not known, if
    they are not.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    named: int = 0
    reason: str = ""

    @property
    def sentence(self) -> str:
        """What to say instead of a table of nothing but unknown figures; empty for others."""
        cells = [cell for row in self.rows for cell in row[self.named :]]
        if not self.named or not cells or any(cell not in (UNKNOWN, "") for cell in cells):
            return ""
        return f"{self.title.partition(':')[0]}: not known: {self.reason}."
