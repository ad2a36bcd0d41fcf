"""The rows of each table, from the summaries and the samples of stored runs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.events.summary import EventSummary
from stackcost.analysis.figures import counted
from stackcost.analysis.merged import Of, by_second, merged, recorded
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Summary
from stackcost.analysis.why.attribution import attribution, why_none
from stackcost.contracts.latency import percentile_us
from stackcost.contracts.trial import Trial

Row = dict[str, Any]
# Fields of a trial in the summary whose columns have other names.
TRIAL_COLUMNS = {
    "number": "trial",
    "server": "system",
    "server_cpu_total": "us",
    "whole_cpu_total": "whole_us",
    "undisturbed": "undisturbed_s",
    "memory_read_time": "memory_read_ns",
    "system_call_time": "system_call_ns",
}


def why(run: str, system: str, seen: Readings, cpus: tuple[int, ...]) -> Iterator[Row]:
    """CPU time by what was done and on whose behalf in one trial."""
    head = {
        "run": run,
        "trial": seen.trial.number,
        "round": seen.trial.round,
        "system": system,
        "test": seen.trial.traffic.test,
        "offered_cps": seen.trial.offered_cps,
    }
    found, reason = attribution(seen, cpus), why_none(seen, cpus)
    if reason or not found:
        yield {**head, "reason": reason}
        return
    for part in found.parts:
        yield {**head, **part._asdict(), "reason": ""}


def counts(run: str, system: str, seen: Readings) -> Iterator[Row]:
    """Instructions by task, mode and function in one trial; none of one that was timed."""
    trial = seen.trial
    head = {"run": run, "trial": trial.number, "round": trial.round}
    for each in counted.counts(seen):
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
    """Every trial, including those that no figure uses."""
    for row in summary.trials:
        flags = [flag for flag in row.flags if not flag.startswith("in no figure: ")]
        told = {TRIAL_COLUMNS.get(name, name): value for name, value in row}
        yield told | {"run": summary.run, "flags": "; ".join(flags)}


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
    seen = Readings(trial)
    first = min((window.start for window in seen.phases.values()), default=0.0)
    for sample in seen.samples(*metrics) if metrics else trial.samples:
        core = sample.labels.get("cpu", "")
        yield {
            "run": run,
            "trial": trial.number,
            "round": trial.round,
            "system": system,
            "phase": next(
                (n for n, w in seen.phases.items() if w.start <= sample.time <= w.end), ""
            ),
            "seconds": sample.time - first,
            "metric": sample.metric,
            "core": int(core) if core.isascii() and core.isdecimal() else None,
            "labels": sample.labels,
            "value": sample.value,
            "unit": sample.unit,
            "kind": str(sample.kind),
            "source": sample.source,
            "reason": sample.reason,
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


def rounds(spread: Spread, value: str = "value") -> Iterator[Row]:
    """The last columns of a figure's rows: its value in each round, or why it is unknown."""
    for number, found in spread.by_round():
        yield {"round": number, value: found, "reason": ""}
    if not spread.values:
        yield {"round": None, value: None, "reason": spread.reason}
