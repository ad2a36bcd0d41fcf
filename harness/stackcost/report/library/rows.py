"""The rows of each table, from the summaries and the samples of stored runs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.comparing.http_costs import Cost
from stackcost.analysis.device.event_summary import EventSummary
from stackcost.analysis.figures import counted
from stackcost.analysis.figures.registry import OF_TRIALS, is_judged
from stackcost.analysis.merged import Of, by_second, merged, recorded
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread, bounds
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.checks import Check
from stackcost.analysis.why.attribution import attribution, why_none
from stackcost.contracts.latency import percentile_us
from stackcost.contracts.trial import Trial
from stackcost.report.difference import Difference
from stackcost.report.http_figures import series
from stackcost.report.http_tls import tls_costs
from stackcost.report.http_versions import version_costs
from stackcost.report.published.document import Document
from stackcost.report.published.match import PublishedMatch

Row = dict[str, Any]


def why(run: str, system: str, readings: Readings) -> Iterator[Row]:
    """CPU time by what was done and on whose behalf in one trial."""
    head = {
        "run": run,
        "trial": readings.trial.number,
        "round": readings.trial.round,
        "system": system,
        "test": readings.trial.traffic.test,
        "offered_cps": readings.trial.offered_cps,
    }
    found, reason = attribution(readings), why_none(readings)
    if reason or not found:
        yield {**head, "reason": reason}
        return
    for part in found.parts:
        yield {**head, **part._asdict(), "reason": ""}


def counts(run: str, system: str, readings: Readings) -> Iterator[Row]:
    """Instructions by task, mode and function in one trial; none of one that was timed."""
    trial = readings.trial
    head = {"run": run, "trial": trial.number, "round": trial.round}
    for each in counted.counts(readings):
        yield {**head, "system": system, "offered_cps": trial.offered_cps, **each._asdict()}


def memory_points(summary: Summary) -> Iterator[Row]:
    """The memory at each number of open flows, in all rounds."""
    for server in summary.servers:
        for state, found in server.memories.items():
            head = {"run": summary.run, "system": server.name, "state": state}
            for kind, points in found.points.items():
                for flows, size in points:
                    yield {**head, "kind": kind, "open_flows": flows, "bytes": size}


def trials(summary: Summary) -> Iterator[Row]:
    """Every trial, including those that no figure uses, with figures of its load in its round."""
    found = {
        (server.name, level.test, level.offered_cps, round_number, name): value
        for server, level in summary.loads
        for name in OF_TRIALS
        if name in level
        for round_number, value in level[name].by_round()
    }
    for row in summary.trials:
        flags = [flag for flag in row.flags if not flag.startswith("in no figure: ")]
        head = {"run": summary.run, "trial": row.number, "system": row.server}
        key = row.server, row.test, row.offered_cps, row.round
        used = row.part == "load" and not row.set_aside
        own = {name: found.get((*key, name)) for name in OF_TRIALS if used}
        yield dict(row) | own | head | {"flags": "; ".join(flags)}


def steps(summary: CeilingSummary) -> Iterator[Row]:
    """Every trial of searches; what was lost counts as failed."""
    for ceiling in summary.ceilings:
        for row in ceiling.trace:
            yield {
                "run": summary.run,
                "trial": row.number,
                "round": ceiling.round,
                "system": ceiling.server,
                "part": "search",
                "test": "",
                "offered_cps": row.load if ceiling.of == "connections" else None,
                "open_flows": row.load if ceiling.of == "flows" else None,
                "completed": row.intended - row.lost,
                "failed": row.lost,
                "flags": "; ".join(row.flags),
                "set_aside": "" if row.decisive else "another attempt at this load counts",
            }


def samples(run: str, system: str, trial: Trial, metrics: tuple[str, ...]) -> Iterator[Row]:
    """The samples of one trial, of some metrics or of all."""
    readings = Readings(trial)
    first = min((window.start for window in readings.phases.values()), default=0.0)
    head = {"run": run, "trial": trial.number, "round": trial.round, "system": system}
    for sample in trial.samples:
        if metrics and sample.metric not in metrics:
            continue
        core = sample.labels.get("cpu", "")
        yield {
            **head,
            **sample._asdict(),
            "phase": next(
                (n for n, w in readings.phases.items() if w.start <= sample.time <= w.end), ""
            ),
            "seconds": sample.time - first,
            "core": int(core) if core.isascii() and core.isdecimal() else None,
            "kind": str(sample.kind),
        }


def event_series(summary: EventSummary) -> Iterator[Row]:
    """The series over time of each event."""
    for each in summary.events:
        head: Row = {"run": summary.run, "system": each.server, "event": each.event}
        head |= {"at_s": each["event.at"].median}
        for name, points in each.series.items():
            for at, value in points:
                yield {**head, "series": name, "seconds": at, "value": value}


def merged_latency(
    run: str, before: str, trials: Iterable[Trial], percentiles: Sequence[float]
) -> Iterator[Row]:
    """Percentiles of all rounds together. `before`: what stands before a system's name."""
    for of, times in merged(trials).items():
        for percentile in percentiles:
            yield {
                **_times_of(run, before, of),
                "timed": times.get_total_count(),
                "percentile": percentile,
                "us": percentile_us(times, percentile),
            }


def latency_over_time(run: str, before: str, trials: Iterable[Trial]) -> Iterator[Row]:
    """Each time that was recorded in each second, and how many connections took as long."""
    for part in by_second(trials):
        head = _times_of(run, before, part.of)
        head |= {"trial": part.trial.number, "round": part.trial.round, "seconds": part.start}
        for us, count in recorded(part.times):
            yield {**head, "us": us, "count": count}


def _times_of(run: str, before: str, of: Of) -> Row:
    return {"run": run, **of._asdict(), "system": before + of.system}


def factors(summary: Summary) -> Iterator[Row]:
    """Each factor in every round, with its ratio over all rounds."""
    for found in summary.factors:
        low, high = bounds(found.ratio) or (None, None)
        head = dict(found) | {
            "run": summary.run,
            "factor": found.name,
            "baseline_cost": found.baseline_cost.median,
            "against_cost": found.against_cost.median,
            "median": found.ratio.median,
            "low": low,
            "high": high,
        }
        yield from ({**head, **each} for each in rounds(found.ratio, "ratio"))


def comparisons(found: Difference) -> Iterator[Row]:
    """Every figure that two runs have in common."""
    for each in found.comparisons:
        yield {
            **dict(each),
            "a": found.a,
            "b": found.b,
            "judged": is_judged(each.figure) and each.verdict != "not judged",
            "a_median": each.a.median,
            "b_median": each.b.median,
            "p": each.p_corrected,
            "different": each.differs,
        }


def published(documents: Sequence[Document]) -> Iterator[Row]:
    """Every printed number of the publications' tables whose row begins with a number."""
    for document in documents:
        for table in document.tables:
            for column in table.columns:
                for x, value in table.points(column):
                    yield {
                        **dict(table),
                        "document": document.title,
                        "table": table.name,
                        "shape": table.shape or "",
                        "column": column,
                        "x_name": table.x,
                        "x": x,
                        "value": value,
                        "better": table.better or "",
                    }


def published_matches(document: Document, found: Sequence[PublishedMatch]) -> Iterator[Row]:
    """Our figures for a publication's tables."""
    for each in found:
        own = dict(each) if each.value is not None else dict(each) | {"low": None, "high": None}
        yield {**own, "document": document.title}


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
    found: list[tuple[int | None, str, float, list[Check]]] = [
        (trial.number, trial.server, trial.offered_cps, trial.checks) for trial in summary.trials
    ]
    found += [
        (None, server.name, level.offered_cps, level.acceptance) for server, level in summary.loads
    ]
    for trial, system, offered, own in found:
        head = {"run": summary.run, "trial": trial, "system": system, "offered_cps": offered}
        for check in own:
            holds = "unknown" if check.holds is None else "yes" if check.holds else "no"
            yield {**head, **dict(check), "check": check.name, "holds": holds}


def rounds(spread: Spread, value: str = "value") -> Iterator[Row]:
    """The last columns of a figure's rows: its value in each round, or why it is unknown."""
    for number, found in spread.by_round():
        yield {"round": number, value: found, "reason": ""}
    if not spread.values:
        yield {"round": None, value: None, "reason": spread.reason}
