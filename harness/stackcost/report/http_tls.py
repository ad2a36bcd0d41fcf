"""What TLS costs: a test with it beside the same without, and by part, library, certificate.

The parts are differences of closed loops of HTTP/1.1:

- connection without TLS = new connections - kept ones, with one request on each new one
- handshake = the same over TLS, less that
- request = kept connections over TLS - kept ones without it
- kilobyte = the same with a long response - the same with a short one, by the kilobytes more
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from stackcost.analysis.comparing.comparison import Design, ratio_of
from stackcost.analysis.comparing.http_costs import Cost, tests_of
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import ClientSettings, Level, ServerResult, Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, number, with_range

KILOBYTE = 1000
TlsPart = Literal[
    "connection without TLS",
    "full handshake",
    "resumed handshake",
    "request over TLS",
    "kilobyte over TLS",
]
FULL: TlsPart = "full handshake"
RESUMED: TlsPart = "resumed handshake"
BYTES: TlsPart = "kilobyte over TLS"
KINDS = ("user", "system", "irq", "softirq")


@dataclass(frozen=True, slots=True)
class TlsCost:
    """What TLS costs on one system, by part.

    A handshake costs this more than the connection without TLS; a request, and 1,000 bytes, this
    more than without TLS.
    """

    system: str
    parts: Mapping[TlsPart, Cost]


def tls_costs(summary: Summary) -> list[TlsCost]:
    """Of each system with the tests for it; one that has no full handshake is left out."""
    found = [TlsCost(server.name, _tls_parts(server)) for server in summary.servers]
    return [each for each in found if FULL in each.parts]


def _tls_parts(server: ServerResult) -> dict[TlsPart, Cost]:
    closed = tests_of(
        server, lambda http: http.version == "1.1" and len(http.body_bytes) == 1, False
    )
    lengths = sorted({http.body_bytes[0] for _, http in closed}) or [0]
    short, long = lengths[0], lengths[-1]
    tests: dict[tuple[bool, bool, int, bool], Level] = {}  # over TLS, kept, body, resumed
    for level, http in closed:
        tests.setdefault((http.tls, http.kept, http.body_bytes[0], http.resumed), level)
    new = tests.get((False, False, short, False))
    kept, kept_tls = (tests.get((tls, True, short, False)) for tls in (False, True))
    kept_long, kept_long_tls = (tests.get((tls, True, long, False)) for tls in (False, True))
    found: dict[TlsPart, Cost] = {}
    if new and kept:
        found["connection without TLS"] = Cost.of([(1, new), (-1, kept)])
    if new and kept and kept_tls:
        for name, resumed in ((FULL, False), (RESUMED, True)):
            if handshake := tests.get((True, False, short, resumed)):
                found[name] = Cost.of([(1, handshake), (-1, kept_tls), (-1, new), (1, kept)])
        found["request over TLS"] = Cost.of([(1, kept_tls), (-1, kept)])
        if kept_long and kept_long_tls and long > short:
            share = KILOBYTE / (long - short)
            found[BYTES] = Cost.of(
                [(share, kept_long_tls), (-share, kept_long), (-share, kept_tls), (share, kept)]
            )
    return found


@dataclass(frozen=True, slots=True)
class Tls:
    """One test without and with TLS on one system."""

    system: str
    plain: Level
    over_tls: Level

    @property
    def rate(self) -> Spread:
        """Of TLS by plain, over the rounds in which both were measured."""
        assert self.plain.http is not None and self.over_tls.http is not None
        plain, over_tls = self.plain["http.rate"], self.over_tls["http.rate"]
        design = Design(paired=True)
        return ratio_of(Series.of_spread(plain), Series.of_spread(over_tls), design).ratios

    def share(self, kind: str) -> float | None:
        """Of the additional CPU per request, what is of this kind."""
        more = {each: self.more(each) for each in KINDS}
        known = [value for value in more.values() if value is not None]
        one = more[kind]
        return None if one is None or not sum(known) else one / sum(known)

    def more(self, kind: str) -> float | None:
        """Additional microseconds of the server's CPU per request."""
        below, above = (level.costs[kind].median for level in (self.plain, self.over_tls))
        return None if below is None or above is None else above - below


def tls_pairs(summary: Summary) -> list[Tls]:
    """Tests that differ in TLS alone, on the same system."""
    found = []
    for server in summary.servers:
        for above, below in product(server.levels, repeat=2):
            if _same_but_tls(below.http, above.http):
                found.append(Tls(server.name, below, above))
    return found


def tls_table(pairs: Sequence[Tls]) -> TextTable:
    """Where the time goes that TLS costs: the server's CPU per request by kind."""
    rows: list[tuple[str, ...]] = [
        (
            pair.system,
            f"{pair.plain.load} and {pair.over_tls.load}",
            kind,
            with_range(pair.plain.costs[kind]),
            with_range(pair.over_tls.costs[kind]),
            number(pair.more(kind)),
            UNKNOWN if (share := pair.share(kind)) is None else f"{share:.0%}",
        )
        for pair in pairs
        for kind in KINDS
        if kind in pair.plain.costs and kind in pair.over_tls.costs
    ]
    return TextTable(
        "The server's CPU per request, microseconds",
        ("system", "tests", "kind", "plain", "TLS", "more", "share of it"),
        rows,
    )


def has_tls(summary: Summary) -> bool:
    """Whether a run has the tests that divide the cost of TLS into its parts."""
    return bool(tls_costs(summary))


def tls_parts_answer(summary: Summary) -> str:
    """The dearest and the cheapest full handshake, the resumed ones, and the bytes."""
    known = [each for each in tls_costs(summary) if each.parts[FULL].total.median is not None]
    if not known:
        return "**No full handshake was measured in these runs.**"
    ordered = sorted(known, key=lambda each: -(each.parts[FULL].total.median or 0.0))
    most, least = ordered[0], ordered[-1]
    text = f"**A full TLS handshake takes {_of(most, FULL)} of the server's CPU on {most.system}"
    if most is not least:
        text += f" and {_of(least, FULL)} on {least.system}"
    text += "**"
    for name, part in (("resumed one", RESUMED), ("kilobyte more", BYTES)):
        each_on = [
            f"{_of(each, part)} on {each.system}"
            for each in (most, least)[: len(known)]
            if part in each.parts
        ]
        if each_on:
            text += f"; a {name} takes {' and '.join(each_on)}"
    return f"{text}."


def tls_parts_table(summary: Summary) -> TextTable:
    """Each part on each system by kind of CPU."""
    return TextTable(
        "What TLS adds, microseconds of the server's CPU: median (min-max of the rounds)",
        ("system", "part", "all", "user", "system", "softirq and interrupts"),
        [
            (
                each.system,
                part,
                with_range(cost.total),
                *map(number, _by_kind(cost)),
            )
            for each in tls_costs(summary)
            for part, cost in each.parts.items()
        ],
    )


def _by_kind(cost: Cost) -> tuple[float | None, float | None, float | None]:
    """User, system, and softirq with interrupts."""
    medians = {kind: each.median for kind, each in cost.kinds.items()}
    interrupts = [medians.get("softirq"), medians.get("irq")]
    known = [each for each in interrupts if each is not None]
    return medians.get("user"), medians.get("system"), sum(known) if known else None


def _of(each: TlsCost, part: TlsPart) -> str:
    return f"{number(each.parts[part].total.median)} us"


def _same_but_tls(plain: ClientSettings | None, tls: ClientSettings | None) -> bool:
    if plain is None or tls is None or plain.tls or not tls.tls:
        return False
    alike = ("body_bytes", "kept", "measures", "program", "processes", "connections", "resumed")
    return all(getattr(plain, name) == getattr(tls, name) for name in alike)
