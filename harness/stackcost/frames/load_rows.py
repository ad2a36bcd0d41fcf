"""The rows of tables about loads: figures of each load, HTTP tests, and checks."""

from collections.abc import Iterator

from stackcost.analysis.checks import Check
from stackcost.analysis.figures import registry
from stackcost.analysis.http_costs import Cost
from stackcost.analysis.http_versions import version_costs
from stackcost.analysis.summary import Summary
from stackcost.analysis.tls import tls_costs
from stackcost.frames.rows import Row, figure_rows, levels, rounds
from stackcost.report.http import series


def loads(summary: Summary) -> Iterator[Row]:
    """Every figure of every load in every round, of those that have no table of their own."""
    for server, level, head in levels(summary):
        head |= {"quoted": level is server.quoted, "past_ceiling": level.past_ceiling}
        figures = {name: each for name, each in level.figures.items() if registry.in_loads(name)}
        yield from figure_rows(head, figures)


def tests(summary: Summary) -> Iterator[Row]:
    """The figures of HTTP clients in every test and round, in the form of the publications."""
    for one in series(summary):
        for system, points in one.points.items():
            for count, level in sorted(points.items()):
                value = one.value(level)
                for each in rounds(value):
                    yield {
                        "run": summary.run,
                        "system": system,
                        "count": count,
                        "counted": one.axis,
                        "test": one.test,
                        "offered_cps": one.offered,
                        "figure": one.what,
                        "tls": bool(level.http and level.http.tls),
                        "version": level.http.version if level.http else "1.1",
                        "round": each.round,
                        "value": each.value,
                        "unit": one.unit,
                        "reason": each.reason,
                    }


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
            for each in rounds(spread):
                own = {"kind": kind, "round": each.round, "us": each.value, "reason": each.reason}
                yield {**head, **own}


def checks(summary: Summary) -> Iterator[Row]:
    """Every check of every trial, then the criteria of RFC 9411 of every load."""
    for trial in summary.trials:
        head = {"run": summary.run, "trial": trial.number, "system": trial.server}
        for check in trial.checks:
            yield {**head, "offered_cps": trial.offered_cps, **_check(check)}
    for _, level, head in levels(summary):
        del head["test"]
        for check in level.acceptance:
            yield {**head, "trial": None, **_check(check)}


def _check(check: Check) -> Row:
    return {
        "check": check.name,
        "holds": "unknown" if check.holds is None else "yes" if check.holds else "no",
        "wanted": check.wanted,
        "seen": check.seen,
        "reason": check.reason,
    }
