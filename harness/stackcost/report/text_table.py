"""A table as text."""

import re
from dataclasses import dataclass, replace

from stackcost.report.words import UNKNOWN

# How often an interval holds the truth, as `stackcost.report.words` puts it into a cell.
COVERAGE = re.compile(r", (?:in|which contains the true median in) ([\d.]+ %) of cases")


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

    def brief(self) -> "TextTable":
        """The table with what all rows share said once, in the title: columns in which nothing is
        known, and how often intervals hold the truth.
        """
        return self._without_unknown()._with_one_coverage()

    def _without_unknown(self) -> "TextTable":
        kept = [
            at
            for at in range(len(self.columns))
            if at < max(1, self.named) or any(row[at] != UNKNOWN for row in self.rows)
        ]
        unknown = [name for at, name in enumerate(self.columns) if at not in kept and name]
        if not unknown or len(kept) <= max(1, self.named):
            return self
        return replace(
            self,
            title=f"{self.title}; unknown in all rows: {', '.join(unknown)}",
            columns=tuple(self.columns[at] for at in kept),
            rows=[tuple(row[at] for at in kept) for row in self.rows],
        )

    def _with_one_coverage(self) -> "TextTable":
        told = [share for row in self.rows for cell in row for share in COVERAGE.findall(cell)]
        if len(told) < 2 or len(set(told)) > 1:
            return self
        return replace(
            self,
            title=f"{self.title}; the intervals hold the true value in {told[0]} of cases",
            rows=[tuple(COVERAGE.sub("", cell) for cell in row) for row in self.rows],
        )
