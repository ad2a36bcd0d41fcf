"""A table as text."""

from dataclasses import dataclass

from stackcost.report.words import UNKNOWN


@dataclass(frozen=True, slots=True)
class TextTable:
    """A title, column names, and rows of as many cells.

    `named`: number of first columns that name the row. `reason`: why the others are unknown, if
    they are not.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    named: int = 0
    reason: str = ""

    @property
    def sentence(self) -> str:
        """A sentence that replaces a table with only unknown figures; empty for other tables."""
        cells = [cell for row in self.rows for cell in row[self.named :]]
        if not self.named or not cells or any(cell not in (UNKNOWN, "") for cell in cells):
            return ""
        return f"{self.title.partition(':')[0]}: unknown, because {self.reason}."
