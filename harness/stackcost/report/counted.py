"""The tables of a counted run: instructions per connection by system, category and function."""

from collections.abc import Sequence

from stackcost.analysis.figures.counted import SMALL
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Level, ServerResult, Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import number, with_range

Counted = list[tuple[ServerResult, Level]]
CATEGORIES, FUNCTIONS = "instructions_by_category", "instructions_by_function"
CALLS = "system_calls"
NAMED = 4  # parts of a cost that the answer names


def counted_systems(summary: Summary) -> Counted:
    """The systems with counts, and their load; empty of a run that was timed."""
    return [(server, level) for server, level in summary.loads if "instructions" in level.figures]


def counted_answer(summaries: Sequence[Summary]) -> str:
    """What a connection costs on each system, in one sentence, and most of what it consists of."""
    systems = [each for summary in summaries for each in counted_systems(summary)]
    first = systems[0][1]["instructions"].median
    costs = []
    for at, (server, level) in enumerate(systems):
        cost = level["instructions"]
        times = f", {_share(cost.median, first)} times as many" if at else ""
        costs.append(f"{with_range(cost)} on {server.name}{times}")
    parts = [f"{server.name}: {_largest(level)}" for server, level in systems]
    return (
        f"**Instructions of one connection: {'; '.join(costs)}.**\n\n"
        f"Most of them, on {'; on '.join(parts)}."
    )


def _largest(level: Level) -> str:
    kinds = level.kinds(CATEGORIES)
    names = sorted(kinds, key=lambda name: -_of(kinds, name))[:NAMED]
    return ", ".join(f"{name} {number(_of(kinds, name))}" for name in names)


def counted_tables(summary: Summary, most: int) -> list[TextTable]:
    """All tables; those by category and function have `most` rows. Empty of a timed run."""
    systems = counted_systems(summary)
    if not systems:
        return []
    titles = {
        CATEGORIES: "Instructions of one connection by what its functions do",
        FUNCTIONS: "Instructions of one connection by function",
        CALLS: "System calls of one connection",
    }
    tables = [_by_kind(title, figure, systems, most) for figure, title in titles.items()]
    return [_costs(systems), *(table for table in tables if table.rows)]


def _costs(systems: Counted) -> TextTable:
    name, first = systems[0][0].name, systems[0][1]["instructions"].median
    several, modes = len(systems) > 1, ("user", "kernel")
    times = [f"times {name}"] * several
    return TextTable(
        "Instructions of one connection, counted: median (range over boots of the guest)",
        ("system", "instructions (range)", *modes, "bytes by string moves", *times),
        [
            (
                server.name,
                with_range(level["instructions"]),
                *(_median(level.kinds("instructions_by_mode").get(mode)) for mode in modes),
                number(sum(each.median or 0.0 for each in level.kinds("string_bytes").values())),
                *([_share(level["instructions"].median, first)] * several),
            )
            for server, level in systems
        ],
    )


def _by_kind(title: str, figure: str, systems: Counted, most: int) -> TextTable:
    """The largest rows, and last what all others have, so that a column adds up to the whole."""
    found = [level.kinds(figure) for _, level in systems]
    names = sorted(
        {name for kinds in found for name in kinds} - {SMALL},
        key=lambda name: -max((_of(kinds, name) for kinds in found), default=0.0),
    )
    rows = [(name, *(number(_of(kinds, name)) for kinds in found)) for name in names[:most]]
    rest = [sum(_of(kinds, name) for name in (*names[most:], SMALL)) for kinds in found]
    if any(rest):
        rows.append((SMALL, *map(number, rest)))
    return TextTable(title, ("", *(server.name for server, _ in systems)), rows)


def _of(kinds: dict[str, Spread], name: str) -> float:
    return (kinds[name].median or 0.0) if name in kinds else 0.0


def _median(spread: Spread | None) -> str:
    return number(spread.median if spread else None)


def _share(value: float | None, first: float | None) -> str:
    return number(value / first) if value and first else ""
