"""Tables of HTTP clients' tests in the form of the publications, and remarks about them."""

from collections.abc import Mapping, Sequence

from stackcost.analysis.comparing.comparison import Design, ratio_of
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import Level, Summary
from stackcost.report.http_figures import Curve, is_scaled, limit_of
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, number, with_range

NOT_MEASURED = "not measured"
LIMITED, LIMITED_MEANS = " *", "; *: the server did not set this rate (see the trials' flags)"


def series_table(one: Curve, summary: Summary) -> TextTable:
    """Rows by x; a column for each system, and the gain of each measured one over the first."""
    columns, gains = systems([one], summary), _gains([one])
    title = f"{one.title} ({one.unit}){_means([one])}"
    return TextTable(title, (one.axis, *columns, *gains), _rows(one, columns, gains))


def result_tables(every: Sequence[Curve], summary: Summary) -> list[TextTable]:
    """A table for each test if there are several rows; otherwise one table for all tests."""
    if is_scaled(every):
        return [series_table(one, summary) for one in every]
    return [tests_table(every, summary)]


def tests_table(every: Sequence[Curve], summary: Summary) -> TextTable:
    """All tests in one table."""
    columns, gains = systems(every, summary), _gains(every)
    axis = (every[0].axis,) if every and every[0].x else ()
    return TextTable(
        f"Tests of HTTP clients: median (min-max of the rounds){_means(every)}",
        ("test", "unit", *axis, *columns, *gains),
        [
            (one.name, one.unit, *row[0 if axis else 1 :])
            for one in every
            for row in _rows(one, columns, gains)
        ],
    )


def _means(every: Sequence[Curve]) -> str:
    """What the mark of a cell means, if any has it."""
    levels = (level for one in every for each in one.points.values() for level in each.values())
    return LIMITED_MEANS if any(map(limit_of, levels)) else ""


def systems(every: Sequence[Curve], summary: Summary) -> list[str]:
    """Names of all systems, those that could not be measured last."""
    missing = (each.axis()[0].name for each in summary.not_measured)
    return list(dict.fromkeys([*(name for one in every for name in one.points), *missing]))


def _gains(every: Sequence[Curve]) -> dict[str, str]:
    """Names of the columns of gains, and of the systems in them."""
    first, *others = [*dict.fromkeys(name for one in every for name in one.points)] or [""]
    return {f"{other} over {first}": other for other in others}


def _rows(one: Curve, columns: Sequence[str], gains: Mapping[str, str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for x in sorted({x for points in one.points.values() for x in points}):
        values = {name: one.points.get(name, {}).get(x) for name in columns}
        base = values[columns[0]]
        rows.append(
            (
                str(x),
                *(_cell(one, v) for v in values.values()),
                *(_gain(one, base, values[system]) for system in gains.values()),
            )
        )
    return rows


def _cell(one: Curve, level: Level | None) -> str:
    """A level's figure, marked where the server did not set it."""
    if level is None:
        return NOT_MEASURED
    return with_range(one.value(level)) + (LIMITED if limit_of(level) else "")


def clients_table(summary: Summary) -> TextTable:
    """The limits of each test: how busy the cores of both sides were, failures, and costs."""
    return TextTable(
        "Both sides in each test: median (min-max of the rounds); CPU in microseconds per request",
        (
            "system",
            "test",
            "connections",
            "clients' cores busy",
            "server's cores busy",
            "failed",
            "server's CPU",
            "clients' CPU",
        ),
        [
            (
                server.name,
                level.load,
                _count(level["http.concurrency"]),
                _percent(level["http.clients_busy"]),
                _percent(level["http.server_busy"]),
                number(level["failed"].median),
                with_range(level.cost),
                with_range(_total(level)),
            )
            for server, level in summary.loads
            if level.http
        ],
    )


def times_remark(summary: Summary) -> str:
    """From where each client program measures its times."""
    told = {
        level.http.program: level.http.latency_means for _, level in summary.loads if level.http
    }
    return "Times: " + "; ".join(f"{name}: {words}" for name, words in told.items()) + "."


def not_measured_table(summary: Summary) -> TextTable:
    """Systems and tests that this machine cannot measure, each with the part that is missing."""
    return TextTable(
        "Not measured on this machine", ("system", "why"), list(summary.reasons.items())
    )


def shared_remark(summary: Summary) -> str:
    """How clients and servers share the machine, which is important for the rates."""
    load, server = (summary.machine.get(f"cores of the {side}", "") for side in ("load", "server"))
    both = sorted(set(load.split(", ")) & set(server.split(", ")))
    if both:
        return (
            f"**Clients and server share cores {', '.join(both)}**: each rate includes the work of "
            "both. The server's CPU is that of its processes; the kernel's time cannot be divided "
            "between the two sides."
        )
    return (
        f"Clients ran on {_cores(load)} and the server on {_cores(server)} of one machine. They "
        "share no core, but caches, memory and a virtual link, so the rates apply to this machine. "
        "Ratios between columns depend less on the machine."
    )


def _cores(numbers: str) -> str:
    return f"core{'s' if ',' in numbers else ''} {numbers}"


def _gain(one: Curve, base: Level | None, other: Level | None) -> str:
    if base is None or other is None:
        return UNKNOWN
    below, above = (Series.of_spread(one.value(each)) for each in (base, other))
    gain = ratio_of(below, above, Design(paired=True)).ratios
    if gain.median is None or gain.minimum is None or gain.maximum is None:
        return UNKNOWN
    limited = LIMITED if limit_of(base) or limit_of(other) else ""
    low, high = sorted((gain.minimum, gain.maximum))
    return f"{gain.median - 1:+.1%} ({low - 1:+.1%} to {high - 1:+.1%}){limited}"


def _total(level: Level) -> Spread:
    """Over the rounds in which all kinds are known."""
    parts = [
        dict(zip(p.rounds, p.values, strict=False)) for p in level.kinds("generator_cpu").values()
    ]
    common = sorted(set[int]().union(*parts).intersection(*parts))
    return spread([sum(part[number] for part in parts) for number in common], "us")


def _count(one: Spread) -> str:
    return number(one.median) if one.minimum == one.maximum else with_range(one)


def _percent(one: Spread) -> str:
    if one.median is None or one.minimum is None or one.maximum is None:
        return UNKNOWN
    return f"{one.median:.0%} ({one.minimum:.0%}-{one.maximum:.0%})"
