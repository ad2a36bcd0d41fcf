"""What TLS costs, by part: differences of closed loops of HTTP/1.1.

- connection without TLS = new connections - kept ones, with one request on each new one
- handshake = the same over TLS, less that
- request = kept connections over TLS - kept ones without it
- kilobyte = the same with a long response - the same with a short one, by the kilobytes more
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from stackcost.analysis.http_costs import Cost, tests_of
from stackcost.analysis.summary import Level, ServerResult, Summary

KILOBYTE = 1000
TlsPart = Literal[
    "connection without TLS",
    "full handshake",
    "resumed handshake",
    "request over TLS",
    "kilobyte over TLS",
]


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
    return [each for each in found if "full handshake" in each.parts]


def _tls_parts(server: ServerResult) -> dict[TlsPart, Cost]:
    closed = tests_of(
        server, lambda http: http.version == "1.1" and len(http.body_bytes) == 1, False
    )
    short = min((http.body_bytes[0] for _, http in closed), default=0)
    long = max((http.body_bytes[0] for _, http in closed), default=0)

    def test(tls: bool, kept: bool, body: int, resumed: bool = False) -> Level | None:
        wanted = (tls, kept, body, resumed)
        return next(
            (
                level
                for level, http in closed
                if (http.tls, http.kept, http.body_bytes[0], http.resumed) == wanted
            ),
            None,
        )

    new, full, resumed = (
        test(False, False, short),
        test(True, False, short),
        test(True, False, short, True),
    )
    kept, kept_tls = test(False, True, short), test(True, True, short)
    kept_long, kept_long_tls = test(False, True, long), test(True, True, long)
    found: dict[TlsPart, Cost] = {}
    if new and kept:
        found["connection without TLS"] = Cost.of([(1, new), (-1, kept)])
    if new and kept and kept_tls:
        own: list[tuple[float, Level]] = [(-1, kept_tls), (-1, new), (1, kept)]
        handshakes: dict[TlsPart, Level | None] = {
            "full handshake": full,
            "resumed handshake": resumed,
        }
        for name, level in handshakes.items():
            if level:
                found[name] = Cost.of([(1, level), *own])
        found["request over TLS"] = Cost.of([(1, kept_tls), (-1, kept)])
        if kept_long and kept_long_tls and long > short:
            share = KILOBYTE / (long - short)
            found["kilobyte over TLS"] = Cost.of(
                [(share, kept_long_tls), (-share, kept_long), (-share, kept_tls), (share, kept)]
            )
    return found
