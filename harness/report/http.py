"""Tests of HTTP clients in the shape of the publications' tables: by workers or cores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.analysis.spread import Spread, ratio, spread
from harness.analysis.summary import HttpFigures, Level, Summary
from harness.experiment.schema import axis_of
from harness.report.tables import TextTable
from harness.report.words import UNKNOWN, number, with_range

What = Literal["connections", "requests", "throughput", "latency"]
UNITS: dict[What, str] = {
    "connections": "connections/s",
    "requests": "requests/s",
    "throughput": "Gb/s",
    "latency": "us, 99th percentile",
}
LONG_BODY = 10_000  # bytes from which bandwidth is of interest beside the rate
NEAR_CEILING = 0.95  # of the highest value over x: from here on it counts as reached
NOT_MEASURED = "not measured"
KINDS = ("user", "system", "irq", "softirq")


@dataclass(frozen=True, slots=True)
class Series:
    """One test's main figure over workers or cores, a column for each system.

    `points`: the level by x, by system; x is 1 for systems that vary neither. `x`: its name.
    """

    test: str
    what: What
    unit: str
    x: str
    offered: float
    points: dict[str, dict[int, Level]]

    def value(self, level: Level) -> Spread:
        """The figure in the series' unit."""
        return figure_of(level, self.what)

    @property
    def name(self) -> str:
        """The test, and its rate where it has one."""
        return f"{self.test} at {self.offered:,.0f}" if self.offered else self.test

    @property
    def title(self) -> str:
        """What was asked for, in words."""
        level = next(iter(next(iter(self.points.values())).values()))
        assert level.http is not None
        return f"{level.load}: {asked(level.http)}"


def series(summary: Summary) -> list[Series]:
    """All tests of a run, in their order; one with long bodies by requests and by throughput."""
    found: dict[tuple[str, float, What], dict[str, dict[int, Level]]] = {}
    axis = "worker processes"
    for server in summary.servers:
        column, x, name = axis_of(server.name)
        axis = name or axis
        for level in server.levels:
            for what in _figures(level):
                key = level.test, level.offered_cps, what
                found.setdefault(key, {}).setdefault(column, {})[x] = level
    return [
        Series(test, what, UNITS[what], axis, offered, points)
        for (test, offered, what), points in found.items()
    ]


def figure_of(level: Level, what: What) -> Spread:
    """A level's figure in the unit of `what`."""
    http = level.http
    if http is None:
        return Spread(unit=UNITS[what], reason="no trial came to its end")
    if what == "throughput":
        return spread([bits / 1e9 for bits in http.bandwidth.values], UNITS[what])
    if what == "latency":
        kinds = next(iter(level.latency.values()), {})
        known = kinds.get("completion") or next(iter(kinds.values()), None)
        return known["p99"] if known else Spread(unit=UNITS[what], reason="no time was told")
    return http.rate


def asked(http: HttpFigures) -> str:
    """What clients were asked for."""
    bodies = ", ".join(f"{length:,}" for length in http.body_bytes)
    connection = "kept alive" if http.kept else "new connections"
    tls = ", TLS" if http.tls else ""
    clients = f"{http.processes} x {http.program} with {http.connections} connections"
    return f"{bodies} bytes, {connection}{tls}; {clients}"


def series_table(one: Series, summary: Summary) -> TextTable:
    """Rows by x; a column for each system, and its gain over the first one."""
    columns = systems([one], summary)
    return TextTable(
        f"{one.title} ({one.unit})", (one.x, *columns, *_gains(columns)), _rows(one, columns)
    )


def tests_table(every: Sequence[Series], summary: Summary) -> TextTable:
    """All tests in one table."""
    columns = systems(every, summary)
    axis = every[0].x if every else ""
    return TextTable(
        "Tests of HTTP clients: median (min-max of the rounds)",
        ("test", "unit", axis, *columns, *_gains(columns)),
        [(one.name, one.unit, *row) for one in every for row in _rows(one, columns)],
    )


def systems(every: Sequence[Series], summary: Summary) -> list[str]:
    """Names of all systems, those that could not be measured last."""
    missing = (axis_of(name)[0] for name in summary.not_measured)
    return list(dict.fromkeys([*(name for one in every for name in one.points), *missing]))


def _gains(columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{other} over {columns[0]}" for other in columns[1:])


def _rows(one: Series, columns: Sequence[str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for x in sorted({x for points in one.points.values() for x in points}):
        values = {name: one.points.get(name, {}).get(x) for name in columns}
        base, *others = values.values()
        rows.append(
            (
                str(x),
                *(with_range(one.value(v)) if v else NOT_MEASURED for v in values.values()),
                *(_gain(one, base, other) for other in others),
            )
        )
    return rows


def reached(one: Series) -> dict[str, str]:
    """By system: the ceiling over x, and the lowest x that reaches it, in words; not of times."""
    found: dict[str, str] = {}
    if one.what == "latency":
        return found
    for name, points in one.points.items():
        known = {x: value for x, level in points.items() if (value := one.value(level).median)}
        if len(known) < 2:
            continue
        highest = max(known.values())
        enough = min(x for x, value in known.items() if value >= NEAR_CEILING * highest)
        at_end = enough == max(known)
        found[name] = (
            f"{number(highest)} {one.unit} at most, "
            + ("and still rising at" if at_end else f"within {1 - NEAR_CEILING:.0%} of it from")
            + f" {enough} {one.x}"
        )
    return found


def clients_table(summary: Summary) -> TextTable:
    """What limits each test's figure: how full both sides' cores were, what failed, the cost."""
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
                with_range(level.http.concurrency),
                _percent(level.http.clients_busy),
                _percent(level.http.server_busy),
                number(level.http.failed.median),
                with_range(level.server_cpu_total),
                with_range(_total(level)),
            )
            for server in summary.servers
            for level in server.levels
            if level.http
        ],
    )


def times_remark(summary: Summary) -> str:
    """What the times of each client program begin with."""
    told = {
        level.http.program: level.http.latency_means
        for server in summary.servers
        for level in server.levels
        if level.http
    }
    return "Times of " + "; of ".join(f"{name}: {words}" for name, words in told.items()) + "."


def not_measured_table(summary: Summary) -> TextTable:
    """Systems that this machine cannot measure, each with the part that is missing."""
    return TextTable("Not measured here", ("system", "why"), list(summary.not_measured.items()))


def shared_remark(summary: Summary) -> str:
    """How clients and servers share the machine, which a reader of rates has to know."""
    load, server = (summary.machine.get(f"cores of the {side}", "") for side in ("load", "server"))
    both = sorted(set(load.split(", ")) & set(server.split(", ")))
    if both:
        return (
            f"**Clients and server share cores {', '.join(both)}**: each rate is of both together."
        )
    return (
        f"Clients ran on cores {load} and the server on cores {server} of one machine: no core is "
        "shared, but its caches, its memory and a virtual wire are, so that a rate is this "
        "machine's. Ratios between columns travel better."
    )


@dataclass(frozen=True, slots=True)
class Tls:
    """The same test without and with TLS on one system."""

    system: str
    plain: Level
    over_tls: Level

    @property
    def rate(self) -> Spread:
        """Of TLS by plain, over the rounds."""
        assert self.plain.http is not None and self.over_tls.http is not None
        return ratio(self.over_tls.http.rate.values, self.plain.http.rate.values)

    def share(self, kind: str) -> float | None:
        """Of the additional CPU per request, what is of this kind."""
        more = {each: self.more(each) for each in KINDS}
        known = [value for value in more.values() if value is not None]
        one = more[kind]
        return None if one is None or not sum(known) else one / sum(known)

    def more(self, kind: str) -> float | None:
        """Additional microseconds of the server's CPU per request."""
        below, above = (level.server_cpu[kind].median for level in (self.plain, self.over_tls))
        return None if below is None or above is None else above - below


def tls_pairs(summary: Summary) -> list[Tls]:
    """Tests that differ in TLS alone, on the same system."""
    found = []
    for server in summary.servers:
        levels = [level for level in server.levels if level.http]
        for above in levels:
            for below in levels:
                if _same_but_tls(below.http, above.http) and _aligned(below, above):
                    found.append(Tls(server.name, below, above))
    return found


def tls_table(pairs: Sequence[Tls]) -> TextTable:
    """Where the time goes that TLS costs: the server's CPU per request by kind."""
    rows: list[tuple[str, ...]] = [
        (
            pair.system,
            f"{pair.plain.load} and {pair.over_tls.load}",
            kind,
            with_range(pair.plain.server_cpu[kind]),
            with_range(pair.over_tls.server_cpu[kind]),
            number(pair.more(kind)),
            UNKNOWN if (share := pair.share(kind)) is None else f"{share:.0%}",
        )
        for pair in pairs
        for kind in KINDS
        if kind in pair.plain.server_cpu and kind in pair.over_tls.server_cpu
    ]
    return TextTable(
        "The server's CPU per request, microseconds",
        ("system", "tests", "kind", "plain", "TLS", "more", "share of it"),
        rows,
    )


def _figures(level: Level) -> list[What]:
    if level.http is None:
        return []
    own = level.http.measures
    long = own in ("connections", "requests") and max(level.http.body_bytes) >= LONG_BODY
    return [own, "throughput"] if long else [own]


def _gain(one: Series, base: Level | None, other: Level | None) -> str:
    if base is None or other is None:
        return UNKNOWN
    gain = ratio(one.value(other).values, one.value(base).values)
    if gain.median is None or gain.minimum is None or gain.maximum is None:
        return UNKNOWN
    low, high = sorted((gain.minimum, gain.maximum))
    return f"{gain.median - 1:+.1%} ({low - 1:+.1%} to {high - 1:+.1%})"


def _same_but_tls(plain: HttpFigures | None, tls: HttpFigures | None) -> bool:
    if plain is None or tls is None or plain.tls or not tls.tls:
        return False
    alike = ("body_bytes", "kept", "measures", "program", "processes", "connections")
    return all(getattr(plain, name) == getattr(tls, name) for name in alike)


def _aligned(plain: Level, tls: Level) -> bool:
    if plain.http is None or tls.http is None:
        return False
    return len(plain.http.rate.values) == len(tls.http.rate.values)


def _total(level: Level) -> Spread:
    parts = [part.values for part in level.generator_cpu.values() if part.values]
    return spread([sum(values) for values in zip(*parts, strict=False)], "us")


def _percent(one: Spread) -> str:
    if one.median is None or one.minimum is None or one.maximum is None:
        return UNKNOWN
    return f"{one.median:.0%} ({one.minimum:.0%}-{one.maximum:.0%})"
