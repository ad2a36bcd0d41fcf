"""What a request and a connection cost over each version of HTTP.

The tests send the same requests at the same rate. One on new connections has one request on each,
so a connection costs what that test costs more than the one on kept connections.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stackcost.analysis.comparing.comparison import Comparison
from stackcost.analysis.comparing.http_costs import Cost, tests_of
from stackcost.analysis.spread import Spread, combined, spread
from stackcost.analysis.summary import ClientSettings, Level, ServerResult, Summary
from stackcost.contracts.http import HttpVersion
from stackcost.report.paired import compare_paired
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, change_of, number, with_range

OLDEST: HttpVersion = "1.1"


@dataclass(frozen=True, slots=True)
class VersionCost:
    """One version of HTTP over TLS on one system. None: its tests were not made.

    `rate`, `connection_rate`: requests per second at which the cost of a request and of a
    connection was measured. `request_compared`, `connection_compared`: against HTTP/1.1 of the same
    system, paired by round, and corrected for how many there are in the run; None for HTTP/1.1
    itself. `process_bytes`: of the server's processes for one more open connection. `slab_bytes`:
    the same of the kernel's slab, of both ends.
    """

    system: str
    version: HttpVersion
    rate: float
    request: Cost
    connection_rate: float | None
    connection: Cost | None
    request_compared: Comparison | None = None
    connection_compared: Comparison | None = None
    process_bytes: Spread | None = None
    slab_bytes: Spread | None = None


def version_costs(summary: Summary) -> list[VersionCost]:
    """Every version of each system that was measured with kept connections at a rate over TLS.

    Empty if no system has two versions: then there is nothing to compare.
    """
    found = _compared([cost for server in summary.servers for cost in _versions_of(server)])
    by_system: dict[str, set[str]] = {}
    for each in found:
        by_system.setdefault(each.system, set()).add(each.version)
    return found if any(len(versions) > 1 for versions in by_system.values()) else []


def _versions_of(server: ServerResult) -> list[VersionCost]:
    kept = tests_of(server, lambda http: http.tls and http.kept and http.streams == 1, True)
    new = tests_of(server, lambda http: http.tls and not http.kept and not http.resumed, True)
    versions = sorted({http.version for _, http in kept})
    return [_version(server.name, version, kept, new) for version in versions]


def _version(
    system: str,
    version: HttpVersion,
    kept: Sequence[tuple[Level, ClientSettings]],
    new: Sequence[tuple[Level, ClientSettings]],
) -> VersionCost:
    own = [(level, http) for level, http in kept if http.version == version]
    fewest = min(http.connections for _, http in own)
    few = {level.offered_cps: level for level, http in own if http.connections == fewest}
    highest = max(few)
    news = {level.offered_cps: level for level, http in new if http.version == version}
    common = max(news.keys() & few.keys(), default=None)
    connection = None
    if common is not None:
        connection = Cost.of([(1, news[common]), (-1, few[common])])
    return VersionCost(
        system,
        version,
        highest,
        Cost.of([(1, few[highest])]),
        common,
        connection,
        process_bytes=_per_connection(own, lambda level: level["process_memory"]),
        slab_bytes=_per_connection(own, lambda level: level["connection_slab"]),
    )


def _compared(costs: Sequence[VersionCost]) -> list[VersionCost]:
    """The rows with comparisons against HTTP/1.1 of the same system, all judged together."""
    bases = {each.system: each for each in costs if each.version == OLDEST}
    asked: dict[tuple[int, str], tuple[Spread, Spread]] = {}
    for at, each in enumerate(costs):
        base = bases.get(each.system, each)
        for part in ("request", "connection"):
            below, above = getattr(base, part), getattr(each, part)
            if each is not base and below and above and below.total.values and above.total.values:
                asked[at, part] = below.total, above.total
    found = dict(zip(asked, compare_paired(asked.values()), strict=True))
    return [
        replace(
            each,
            request_compared=found.get((at, "request")),
            connection_compared=found.get((at, "connection")),
        )
        for at, each in enumerate(costs)
    ]


def _per_connection(
    levels: Sequence[tuple[Level, ClientSettings]], read: Callable[[Level], Spread | None]
) -> Spread | None:
    """Bytes for one more open connection, from the fewest and the most; None with one number.

    Other programs use the kernel's memory too. Where it did not grow with the connections in every
    round, what they changed is more than what is looked for, and the figure is unknown.
    """
    counts: dict[tuple[int, float], Level] = {
        (http.processes * http.connections, level.offered_cps): level for level, http in levels
    }
    most = max(counts)
    fewest = min((key for key in counts if key[1] == most[1]), default=most)
    above, below = read(counts[most]), read(counts[fewest])
    if most == fewest or above is None or below is None:
        return None
    more = most[0] - fewest[0]
    found = combined([(1 / more, above), (-1 / more, below)])
    if found.values and min(found.values) <= 0:
        low, high = min(found.values), max(found.values)
        reason = f"it did not grow with the connections: {low:,.0f} to {high:,.0f} B in the rounds"
        return spread([], found.unit, reason)
    return found


def has_versions(summary: Summary) -> bool:
    """Whether a run measured several versions of HTTP at a rate."""
    return bool(version_costs(summary))


def versions_answer(summary: Summary) -> str:
    """What a request and a new connection cost over each version, by system."""
    costs = version_costs(summary)
    systems = dict.fromkeys(cost.system for cost in costs)
    lines = [_sentence([cost for cost in costs if cost.system == name]) for name in systems]
    return "\n\n".join(lines) or "**Only one version of HTTP was measured in these runs.**"


def versions_table(summary: Summary) -> TextTable:
    """Each version on each system, with what is different from HTTP/1.1."""
    return TextTable(
        "Over TLS, microseconds of the server's CPU: median (min-max of the rounds); bytes for one "
        "more open connection",
        (
            "system",
            "HTTP",
            "request",
            "than HTTP/1.1",
            "of it softirq",
            "connection",
            "than HTTP/1.1",
            "of it softirq",
            "process, B",
            "slab of both ends, B",
        ),
        [
            (
                each.system,
                each.version,
                f"{with_range(each.request.total)} at {number(each.rate)}/s",
                _change(each.request_compared),
                _kind(each.request, "softirq"),
                with_range(each.connection.total if each.connection else None),
                _change(each.connection_compared),
                _kind(each.connection, "softirq"),
                with_range(each.process_bytes),
                with_range(each.slab_bytes),
            )
            for each in version_costs(summary)
        ],
    )


def _sentence(costs: Sequence[VersionCost]) -> str:
    requests = [f"{number(c.request.total.median)} us over HTTP/{c.version}" for c in costs]
    news = [
        f"{number(c.connection.total.median)} us over HTTP/{c.version}"
        for c in costs
        if c.connection
    ]
    text = f"**{costs[0].system}: a request takes {_listed(requests)} of the server's CPU"
    if news:
        text += f"; a new connection takes {_listed(news)} more"
    return f"{text}** (all over TLS, at the same rates)."


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _change(found: Comparison | None) -> str:
    return change_of(found) if found else ""


def _kind(cost: Cost | None, kind: str) -> str:
    return number(cost.kinds[kind].median) if cost and kind in cost.kinds else UNKNOWN
