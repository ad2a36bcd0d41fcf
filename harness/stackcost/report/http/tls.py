"""The same test without and with TLS: how much less, and where the difference goes."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackcost.analysis.comparison import Design, ratio_of
from stackcost.analysis.series import Series
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import ClientSettings, Level, Summary
from stackcost.report.tables import TextTable
from stackcost.report.words import UNKNOWN, number, with_range

KINDS = ("user", "system", "irq", "softirq")


@dataclass(frozen=True, slots=True)
class Tls:
    """The same test without and with TLS on one system."""

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
        below, above = (
            level.kinds("server_cpu")[kind].median for level in (self.plain, self.over_tls)
        )
        return None if below is None or above is None else above - below


def tls_pairs(summary: Summary) -> list[Tls]:
    """Tests that differ in TLS alone, on the same system."""
    found = []
    for server in summary.servers:
        levels = [level for level in server.levels if level.http]
        for above in levels:
            for below in levels:
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
            with_range(pair.plain.kinds("server_cpu")[kind]),
            with_range(pair.over_tls.kinds("server_cpu")[kind]),
            number(pair.more(kind)),
            UNKNOWN if (share := pair.share(kind)) is None else f"{share:.0%}",
        )
        for pair in pairs
        for kind in KINDS
        if kind in pair.plain.kinds("server_cpu") and kind in pair.over_tls.kinds("server_cpu")
    ]
    return TextTable(
        "The server's CPU per request, microseconds",
        ("system", "tests", "kind", "plain", "TLS", "more", "share of it"),
        rows,
    )


def _same_but_tls(plain: ClientSettings | None, tls: ClientSettings | None) -> bool:
    if plain is None or tls is None or plain.tls or not tls.tls:
        return False
    alike = ("body_bytes", "kept", "measures", "program", "processes", "connections", "resumed")
    return all(getattr(plain, name) == getattr(tls, name) for name in alike)
