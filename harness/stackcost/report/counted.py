"""The tables of a counted run: instructions per connection by system, category and function."""

from collections.abc import Sequence

from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Level, ServerResult, Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import number, with_range

Counted = list[tuple[ServerResult, Level]]
CATEGORIES, FUNCTIONS = "instructions_by_category", "instructions_by_function"
CALLS = "system_calls"


def counted_systems(summary: Summary) -> Counted:
    """The systems with counts, and their load; empty of a run that was timed."""
    return [
        (server, level)
        for server in summary.servers
        for level in server.levels
        if "instructions" in level.figures
    ]


def counted_answer(summaries: Sequence[Summary]) -> str:
    """What a connection costs on each system, in one sentence."""
    found = [
        f"{number(level['instructions'].median)} on {server.name}"
        for summary in summaries
        for server, level in counted_systems(summary)
    ]
    return f"**One connection takes these instructions: {'; '.join(found)}.**"


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
    first = systems[0][1]["instructions"].median
    return TextTable(
        "Instructions of one connection, counted: median (range over boots of the guest)",
        ("system", "instructions (range)", "user", "kernel", "bytes by string moves", "of first"),
        [
            (
                server.name,
                with_range(level["instructions"]),
                *(
                    _median(level.kinds("instructions_by_mode").get(mode))
                    for mode in ("user", "kernel")
                ),
                number(sum(each.median or 0.0 for each in level.kinds("string_bytes").values())),
                _share(level["instructions"].median, first),
            )
            for server, level in systems
        ],
    )


def _by_kind(title: str, figure: str, systems: Counted, most: int) -> TextTable:
    found = [level.kinds(figure) for _, level in systems]
    names = sorted(
        {name for kinds in found for name in kinds},
        key=lambda name: -max((_of(kinds, name) for kinds in found), default=0.0),
    )
    return TextTable(
        title,
        ("", *(server.name for server, _ in systems)),
        [(name, *(number(_of(kinds, name)) for kinds in found)) for name in names[:most]],
    )


def _of(kinds: dict[str, Spread], name: str) -> float:
    return (kinds[name].median or 0.0) if name in kinds else 0.0


def _median(spread: Spread | None) -> str:
    return number(spread.median if spread else None)


def _share(value: float | None, first: float | None) -> str:
    return number(value / first) if value and first else ""
