"""The stacks of a stored run, weighted by exact times: for flame graphs and other programs."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from stackcost.analysis.readings import Readings
from stackcost.analysis.why.attribution import interrupts, kinds_of
from stackcost.contracts.errors import StackcostError
from stackcost.host.files import write_whole
from stackcost.store import RunFolder


def weighted(readings: Readings) -> dict[str, float]:
    """Microseconds per connection by stack: functions with ";" between them, the outermost first.

    Each begins with its kind of time. A kind without a sample, and the loop of a polling peer, are
    one stack each. Empty where the cost or the stacks are not known.
    """
    found: dict[str, float] = defaultdict(float)
    for of in kinds_of(readings):
        if file := of.whole:
            found[f"{of.kind};{file}"] += of.us
            continue
        times = of.times
        if not times:
            found[of.kind] += of.us
        for each in of.samples:
            found[f"{of.kind};{each.stack}"] += of.us * each.times / times
    if found:
        for part in interrupts(readings):
            found[f"irq;{part.behalf};{part.category}"] += part.us
    return dict(found)


Folded = Mapping[str, float]


class SampledLoad(NamedTuple):
    """One system at one load. `test`: of HTTP clients; else empty."""

    system: str
    test: str
    offered_cps: float


def sampled_trials(run: RunFolder) -> Iterator[Readings]:
    """The load trials that figures use."""
    cores = run.manifest().experiment.get("cores", {}).get("server", [])
    for trial in run.trials():
        if not trial.set_aside and "sustain" in trial.phases:
            yield Readings(trial, cores)


def folded_stacks(run: RunFolder) -> dict[SampledLoad, Folded]:
    """Microseconds per connection of each stack, the mean over the rounds.

    Loads without samples, or without a known cost, are left out.
    """
    found: dict[SampledLoad, list[Folded]] = defaultdict(list)
    for readings in sampled_trials(run):
        if stacks := weighted(readings):
            load = SampledLoad(
                readings.trial.server, readings.trial.traffic.test, readings.trial.offered_cps
            )
            found[load].append(stacks)
    return {load: _mean(every) for load, every in found.items()}


def write_stacks(run: RunFolder, to: Path) -> Iterator[Path]:
    """A file for each system and load in a folder, which is made if it is missing.

    StackcostError if the run has no stacks.
    """
    found = folded_stacks(run)
    if not found:
        raise StackcostError(f"{run.path} has no samples of stacks, or no known cost")
    to.mkdir(parents=True, exist_ok=True)
    for load, stacks in found.items():
        words = f"{load.system} {load.test} {load.offered_cps:g}"
        path = to / f"{re.sub('[^A-Za-z0-9.]+', '-', words)}.folded"
        write_whole(path, as_lines(stacks).encode())
        yield path


def as_lines(stacks: Folded) -> str:
    """A line for each stack, as flamegraph.pl and speedscope read it; nanoseconds, as they take
    whole numbers.
    """
    lines = (f"{stack} {round(us * 1000)}" for stack, us in sorted(stacks.items()))
    return "".join(f"{line}\n" for line in lines if not line.endswith(" 0"))


def _mean(every: list[Folded]) -> Folded:
    names = dict.fromkeys(name for each in every for name in each)
    return {name: mean(each.get(name, 0.0) for each in every) for name in names}
