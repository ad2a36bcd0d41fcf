"""Tests of HTTP clients in the shape of the publications' tables: by workers or cores."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import ClientSettings, Level, Summary
from stackcost.analysis.trial.flags import limit_beside_server
from stackcost.report.words import number

What = Literal["connections", "requests", "throughput", "latency"]
UNITS: dict[What, str] = {
    "connections": "connections/s",
    "requests": "requests/s",
    "throughput": "Gb/s",
    "latency": "us, 99th percentile",
}
LONG_BODY = 10_000  # bytes from which bandwidth is of interest beside the rate
SINGULAR, FIRST_GROUP = re.compile(r"(process|core)e?s"), r"\1"
SHARED = " on the clients' cores"
NEAR_CEILING = 0.95  # of the highest value over x: from here on the ceiling counts as reached


@dataclass(frozen=True, slots=True)
class Curve:
    """One test's main figure over workers or cores, a column for each system.

    `points`: the level by x, by system. `x`: its name; empty if no system varies it, and x is 1.
    `shared`: clients had the same cores as the server.
    """

    test: str
    what: What
    unit: str
    x: str
    shared: bool
    offered: float
    points: dict[str, dict[int, Level]]

    def value(self, level: Level) -> Spread:
        """The figure in the series' unit."""
        if level.http is None:
            return Spread(unit=self.unit, reason="no trial was completed")
        if self.what == "throughput":
            bits = level["http.bandwidth"]
            return spread([each / 1e9 for each in bits.values], self.unit, rounds=bits.rounds)
        if self.what == "latency":
            return tail(level) or Spread(unit=self.unit, reason="no latency was reported")
        return level["http.rate"]

    @property
    def name(self) -> str:
        """The test, and its rate where it has one."""
        return f"{self.test} at {self.offered:,.0f}" if self.offered else self.test

    @property
    def axis(self) -> str:
        """What x counts, and where; empty where there is nothing to say."""
        return (self.x + (SHARED if self.shared else "")).strip()

    def at(self, x: int) -> str:
        """So many workers or cores, in words; without their number where no system varies it."""
        if not self.x:
            return self.axis
        return f"{x} {self.axis if x > 1 else SINGULAR.sub(FIRST_GROUP, self.axis, count=1)}"

    @property
    def title(self) -> str:
        """The load and the settings of the clients, in words."""
        level = next(iter(next(iter(self.points.values())).values()))
        assert level.http is not None
        return f"{level.load}: {client_settings(level.http)}"


def is_scaled(every: Sequence[Curve]) -> bool:
    """Whether any test was made with more than one number of workers or cores."""
    return len({x for one in every for points in one.points.values() for x in points}) > 1


def series(summary: Summary) -> list[Curve]:
    """All tests of a run, in their order; one with long bodies by requests and by throughput."""
    found: dict[tuple[str, float, What], dict[str, dict[int, Level]]] = {}
    axis = ""
    for server in summary.servers:
        column, x, name = server.axis()
        axis = name or axis
        for level in server.levels:
            for what in _figures(level):
                key = level.test, level.offered_cps, what
                found.setdefault(key, {}).setdefault(column.name, {})[x] = level
    every = (level.http for _, level in summary.loads)
    shared = any(http and http.cores_shared for http in every)
    return [
        Curve(test, what, UNITS[what], axis, shared, offered, points)
        for (test, offered, what), points in found.items()
    ]


def tail(level: Level, *kinds: str) -> Spread | None:
    """The 99th percentile of the first of these kinds of time that is known; without kinds of the
    whole time, or of the first kind.
    """
    told = next(iter(level.latency.values()), {})
    wanted = kinds or ("completion", *told)
    return next((told[kind]["p99"] for kind in wanted if kind in told), None)


def limit_of(level: Level) -> str:
    """What else than the server set the rate in at least half of the rounds, in words; or empty."""
    clients, servers, others = (
        dict(level[name].by_round())
        for name in ("http.clients_busy", "http.server_busy", "http.others_busy")
    )
    offered = bool(level.offered_cps)
    told = [
        limit_beside_server(busy, servers[each], offered, others.get(each, 0.0))
        for each, busy in clients.items()
        if each in servers
    ]
    found = list(filter(None, told))
    return found[0] if 2 * len(found) >= len(told) and found else ""


def client_settings(http: ClientSettings) -> str:
    """The settings of the clients, in words."""
    bodies = ", ".join(f"{length:,}" for length in http.body_bytes)
    connection = "kept alive" if http.kept else "new connections"
    tls = ", TLS" if http.tls else ""
    others = ", ".join(f"{length:,}" for length in http.beside)
    beside = f"; beside as many that request {others} bytes" if others else ""
    clients = f"{http.processes} x {http.program} with {http.connections} connections"
    return f"{bodies} bytes, {connection}{tls}; {clients}{beside}"


def ceiling_over_axis(one: Curve) -> dict[str, str]:
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
            + f" {one.at(enough)}"
        )
    return found


def _figures(level: Level) -> list[What]:
    if level.http is None:
        return []
    own = level.http.measures
    long = own in ("connections", "requests") and max(level.http.body_bytes) >= LONG_BODY
    return [own, "throughput"] if long else [own]
