"""A table is readable on a terminal of 80 columns, the width that a terminal has by default."""

import io
import re

import pytest
from rich.console import Console

from stackcost.report.terminal_table import draw
from stackcost.report.text_table import TextTable

COLUMNS = ("system", "load /s", "done /s", "CPU, us (range)", "user", "system time", "irq")
COLUMNS += ("softirq", "stack", "sending", "p50", "p99")
ROW = ("3,600, past the ceiling", "3,566", "42.5 (41.4-43.7)", "15.8", "49.5", "0.91", "45.3")
ROW += ("11.2", "31.3", "1,391", "36.5")
TABLE = TextTable(
    "a title", COLUMNS, [(name, *ROW) for name in ("nginx/kernel", "astf-peer")], named=2
)


def printed(table: TextTable, width: int) -> list[str]:
    written = io.StringIO()
    Console(file=written, width=width).print(draw(table))
    return written.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_no_word_and_no_number_is_broken(width: int) -> None:
    lines = printed(TABLE, width)
    assert max(map(len, lines)) <= width
    words = re.split(r"[\s┃│]+", "\n".join(lines))
    for cell in (*COLUMNS, *ROW, "nginx/kernel", "astf-peer"):
        assert set(cell.split()) <= set(words), cell


def test_columns_that_do_not_fit_follow_below_with_the_names_of_their_rows() -> None:
    text = "\n".join(printed(TABLE, 80))
    assert text.count("a title") == 1 and text.count("nginx/kernel") == 2
    assert text.count("3,600,") == 4 and text.count("31.3") == 2


def test_a_wide_terminal_has_one_line_for_each_row() -> None:
    lines = printed(TABLE, 160)
    assert len(lines) == 7 and max(map(len, lines)) < 160


def test_a_word_that_no_column_has_room_for_is_broken() -> None:
    path = "/a" * 60
    lines = printed(TextTable("", ("check", "found"), [("engine", path)]), 80)
    assert max(map(len, lines)) <= 80
    assert re.sub(r"[^/a]", "", "".join(lines[3:-1])) == path


def test_what_all_rows_share_is_said_once_in_the_title() -> None:
    rows = [
        (name, "+239.9% (+219.0% to +262.3%, in 50 % of cases)", "n/a", number)
        for name, number in (("a", "1"), ("b", "n/a"))
    ]
    found = TextTable("costs", ("system", "more", "money", "us"), rows, named=1).brief()
    assert found.columns == ("system", "more", "us")
    assert found.rows[0] == ("a", "+239.9% (+219.0% to +262.3%)", "1")
    assert found.title == (
        "costs; unknown in all rows: money; the intervals hold the true value in 50 % of cases"
    )
    mixed = [("a", "1 (0-2, in 50 % of cases)"), ("b", "1 (0-2, in 75 % of cases)")]
    assert TextTable("costs", ("system", "us"), mixed, named=1).brief().rows == mixed
    nothing = TextTable("costs", ("system", "us"), [("a", "n/a")], named=1)
    assert nothing.brief() == nothing, "its sentence says so"
