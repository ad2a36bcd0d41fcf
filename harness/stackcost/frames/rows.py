"""The rows of each table, from the summaries and the samples of stored runs."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.figures import counted
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Level, Memory, ServerResult, Summary, TrialRow
from stackcost.analysis.why.attribution import attribution, why_none
from stackcost.contracts.trial import Trial

Row = dict[str, Any]
# The parts of the table of costs, each with its figure.
PARTS = {
    "time": "server_cpu",
    "softirq": "softirq",
    "thread": "threads",
    "backend": "backend_cpu",
    "peer kernel": "peer_kernel_cpu",
    "idle task": "idle_task",
    "generator": "generator_cpu",
}


class Value(NamedTuple):
    """Of one round; None where it is unknown, and why."""

    round: int | None
    value: float | None
    reason: str = ""


def costs(summary: Summary) -> Iterator[Row]:
    """CPU time of every kind in every round."""
    for server, level, head in levels(summary):
        for part, name in PARTS.items():
            for kind, spread in level.kinds(name).items():
                own = {**head, "quoted": level is server.quoted, "part": part, "kind": kind}
                for each in rounds(spread):
                    yield {**own, "round": each.round, "us": each.value, "reason": each.reason}


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


def memory(summary: Summary) -> Iterator[Row]:
    """Slopes of every kind of memory, of the slab's caches and of their owners, in every round."""
    for server, state, found in _memories(summary):
        head = {"run": summary.run, "system": server.name, "state": state}
        for kind, spread in found.kinds("memory.per_flow").items():
            bases = {
                b.round: b.value
                for b in rounds(found.kinds("memory.at_no_flow").get(kind, Spread(unit="B")))
            }
            own = {**head, "part": "kind", "kind": kind, "counted": kind in found.counted}
            for each in rounds(spread):
                yield {**own, **_slope(each), "at_no_flow": bases.get(each.round)}
        for part, name in (("cache", "memory.caches"), ("owner", "memory.owners")):
            for kind, spread in found.kinds(name).items():
                counted = kind.partition(": ")[0] in (found.counted_caches or ())
                own = {**head, "part": part, "kind": kind, "counted": counted}
                for each in rounds(spread):
                    yield {**own, **_slope(each), "at_no_flow": None}


def memory_points(summary: Summary) -> Iterator[Row]:
    """The memory at each number of open flows, in all rounds."""
    for server, state, found in _memories(summary):
        head = {"run": summary.run, "system": server.name, "state": state}
        for kind, points in found.points.items():
            for flows, size in points:
                yield {**head, "kind": kind, "open_flows": flows, "bytes": size}


def latency(summary: Summary) -> Iterator[Row]:
    """Percentiles of connection times in every round."""
    for _, level, head in levels(summary):
        for group, kinds in level.latency.items():
            for kind, percentiles in kinds.items():
                counts = {
                    "timed": level.timed.get(group, {}).get(kind),
                    "attempted": level.attempted,
                }
                for name, spread in percentiles.items():
                    own = {**head, "group": group, "kind": kind, "percentile": name, **counts}
                    for each in rounds(spread):
                        yield {**own, "round": each.round, "us": each.value, "reason": each.reason}


def trials(summary: Summary) -> Iterator[Row]:
    """Every trial, including those that no figure uses."""
    return (_trial(summary.run, row) for row in summary.trials)


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


def figure_rows(head: Row, figures: Mapping[str, Spread]) -> Iterator[Row]:
    """Each figure in each round, with its unit. `head`: the first columns of the rows."""
    for name, spread in figures.items():
        for each in rounds(spread):
            yield {
                **head,
                "figure": name,
                "round": each.round,
                "value": each.value,
                "unit": spread.unit,
                "reason": each.reason,
            }


def levels(summary: Summary) -> Iterator[tuple[ServerResult, Level, Row]]:
    """Each load of each system, and the first columns of its rows."""
    for server in summary.servers:
        for level in server.levels:
            head = {"run": summary.run, "system": server.name, "test": level.test}
            yield server, level, {**head, "offered_cps": level.offered_cps}


def _memories(summary: Summary) -> Iterator[tuple[ServerResult, str, Memory]]:
    for server in summary.servers:
        yield from ((server, state, found) for state, found in server.memories.items())


def _slope(each: Value) -> Row:
    return {"round": each.round, "bytes_per_flow": each.value, "reason": each.reason}


def rounds(spread: Spread) -> Iterator[Value]:
    """Older summaries, without rounds, have the values in their order."""
    if not spread.values:
        yield Value(None, None, spread.reason)
    rounds = spread.rounds or range(1, len(spread.values) + 1)
    yield from (Value(n, value) for n, value in zip(rounds, spread.values, strict=False))


def _trial(run: str, row: TrialRow) -> Row:
    flags = [flag for flag in row.flags if not flag.startswith("in no figure: ")]
    return {
        "run": run,
        "trial": row.number,
        "round": row.round,
        "system": row.server,
        "part": row.part,
        "test": row.test,
        "offered_cps": row.offered_cps,
        "open_flows": row.open_flows,
        "completed": row.completed,
        "failed": row.failed,
        "retransmitted": row.retransmitted,
        "us": row.server_cpu_total,
        "whole_us": row.whole_cpu_total,
        "undisturbed_s": row.undisturbed,
        "memory_read_ns": row.memory_read_time,
        "system_call_ns": row.system_call_time,
        "warm_up_s": row.warm_up_s,
        "variation": row.variation,
        "drift": row.drift,
        "correlation": row.correlation,
        "flags": "; ".join(flags),
        "set_aside": row.set_aside,
    }
