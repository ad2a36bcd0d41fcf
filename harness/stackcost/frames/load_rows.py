"""The rows of tables about loads: HTTP tests, what differs between them, and checks."""

from collections.abc import Iterator

from stackcost.analysis.checks import Check
from stackcost.analysis.http_costs import Cost
from stackcost.analysis.http_versions import version_costs
from stackcost.analysis.summary import Summary
from stackcost.analysis.tls import tls_costs
from stackcost.frames.rows import Row, rounds
from stackcost.report.http import series


def tests(summary: Summary) -> Iterator[Row]:
    """The figures of HTTP clients in every test and round, in the form of the publications."""
    for one in series(summary):
        for system, points in one.points.items():
            for count, level in sorted(points.items()):
                head = {
                    "run": summary.run,
                    "system": system,
                    "count": count,
                    "counted": one.axis,
                    "test": one.test,
                    "offered_cps": one.offered,
                    "figure": one.what,
                    "tls": bool(level.http and level.http.tls),
                    "version": level.http.version if level.http else "1.1",
                    "unit": one.unit,
                }
                yield from ({**head, **each} for each in rounds(one.value(level)))


def http_costs(summary: Summary) -> Iterator[Row]:
    """What differences between tests of HTTP clients cost, by kind, in every round."""
    parts: list[tuple[str, str, str, Cost | None]] = []
    for version in version_costs(summary):
        parts.append((version.system, version.version, "request", version.request))
        parts.append((version.system, version.version, "connection", version.connection))
    for tls in tls_costs(summary):
        parts += [(tls.system, "1.1", name, cost) for name, cost in tls.parts.items()]
    for system, http_version, part, cost in parts:
        head = {"run": summary.run, "system": system, "version": http_version, "part": part}
        for kind, spread in (cost.kinds if cost else {}).items():
            yield from ({**head, "kind": kind, **each} for each in rounds(spread, "us"))


def checks(summary: Summary) -> Iterator[Row]:
    """Every check of every trial, then the criteria of RFC 9411 of every load."""
    for trial in summary.trials:
        head = {"run": summary.run, "trial": trial.number, "system": trial.server}
        for check in trial.checks:
            yield {**head, "offered_cps": trial.offered_cps, **_check(check)}
    for server in summary.servers:
        for level in server.levels:
            head = {"run": summary.run, "trial": None, "system": server.name}
            for check in level.acceptance:
                yield {**head, "offered_cps": level.offered_cps, **_check(check)}


def _check(check: Check) -> Row:
    return {
        "check": check.name,
        "holds": "unknown" if check.holds is None else "yes" if check.holds else "no",
        "wanted": check.wanted,
        "seen": check.seen,
        "reason": check.reason,
    }
