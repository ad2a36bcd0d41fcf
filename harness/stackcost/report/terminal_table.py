"""Tables on a terminal of any width.

If the columns do not fit into one line, the other columns follow in a second table below, and the
names of the rows are repeated. Words and numbers are never broken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

from stackcost.report.text_table import TextTable

BORDER = 3  # columns of the terminal: a line, and a space on each side
LONGEST_WORD = 24  # a longer one, such as a path, is broken


def draw(text: TextTable) -> "FittedTable":
    """A table for the terminal; the first column names the row, and stays in one line."""
    return FittedTable(text.brief())


@dataclass(frozen=True, slots=True)
class FittedTable:
    """The rich form of a table: one table, or several tables below each other."""

    text: TextTable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """The parts, as wide as `options` allow."""
        title: Text | None = Text(self.text.title)
        for columns in _parts(self.text, options.max_width):
            table = Table(title=title, title_justify="left")
            widths = _widths(self.text, columns, options.max_width - 1)
            for column, width in zip(columns, widths, strict=True):
                table.add_column(Text(self.text.columns[column]), width=width, overflow="fold")
            for row in self.text.rows:
                table.add_row(*(Text(row[column]) for column in columns))
            yield table
            title = None


def _parts(text: TextTable, width: int) -> list[list[int]]:
    """The columns of each part; every part contains the columns that name the row."""
    names = list(range(max(1, text.named)))
    room = width - 1 - sum(_least(text, column) + BORDER for column in names)
    parts: list[list[int]] = [[]]
    left = room
    for column in range(len(names), len(text.columns)):
        needed = _least(text, column) + BORDER
        if parts[-1] and needed > left:
            parts.append([])
            left = room
        parts[-1].append(column)
        left -= needed
    return [[*names, *part] for part in parts]


def _widths(text: TextTable, columns: Sequence[int], room: int) -> list[int]:
    """Column widths: those of the text; if that is too wide, the widest columns shrink first."""
    widths = [max(map(cell_len, _cells(text, column))) for column in columns]
    least = [_least(text, column) for column in columns]
    while sum(widths) + BORDER * len(widths) > room:
        able = [place for place, width in enumerate(widths) if width > least[place]]
        if not able:
            break
        widths[max(able, key=lambda place: widths[place])] -= 1
    return widths


def _least(text: TextTable, column: int) -> int:
    """The longest word of a column; of the first one, its longest text."""
    cells = _cells(text, column)
    if column == 0:
        return max(map(cell_len, cells))
    words = [cell_len(word) for cell in cells for word in cell.split()]
    return min(max(words, default=1), LONGEST_WORD)


def _cells(text: TextTable, column: int) -> list[str]:
    cells = [text.columns[column], *(row[column] for row in text.rows)]
    return [line for cell in cells for line in cell.split("\n")]
