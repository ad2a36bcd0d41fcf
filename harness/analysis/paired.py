"""The figures of two systems side by side: what of them is judged, and at which loads.

The CPU cost is compared without what neighbours on the host added: trials of which they left
nothing free are left out where others remain, and what slower memory adds is taken off.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.analysis.compare import Pair
from harness.analysis.figures import Figure
from harness.analysis.same_memory import MemoryPart, memory_part
from harness.analysis.spread import Spread, spread
from harness.analysis.undisturbed import LEAST_S

# The answer's own figures; their parts explain them and would only cost the test its power.
JUDGED = ("server_cpu_total", "memory.total", "http.rate")
COST, LOAD_TIME, FREE_TIME = "server_cpu_total", "load_time", "undisturbed"

Figures = Mapping[tuple[str, float | None], Figure]  # by name and load


class Paired(NamedTuple):
    """A figure of both. `judged`: whether it gets a verdict.

    `left_out`: trials of A and B that are not in it; `memory`: what was taken off from the others.
    """

    pair: Pair
    judged: bool
    left_out: int = 0
    memory: MemoryPart | None = None


class CostTrial(NamedTuple):
    """What a connection cost in one trial; beside it `load_time` and `undisturbed` if known."""

    cost: float
    load_time: float | None
    free_s: float | None


def paired(mine: Figures, theirs: Figures, label: str = "") -> list[Paired]:
    """All figures that both have. One of `JUDGED` at several loads is judged over them together.

    `label`: what the figures' names begin with.
    """
    found = []
    for name in dict.fromkeys(name for name, _ in mine):
        loads = [load for of, load in mine if of == name and (of, load) in theirs]
        if is_judged(name) and len(loads) > 1:
            found.append(_paired(name, label, loads, mine, theirs, judged=True))
        alone = is_judged(name) and len(loads) == 1
        found += [_paired(name, label, [load], mine, theirs, alone) for load in loads]
    return found


def is_judged(name: str) -> bool:
    """Whether a figure is one of the answer's own."""
    return name.rpartition(": ")[2] in JUDGED


def _paired(
    name: str,
    label: str,
    loads: list[float | None],
    mine: Figures,
    theirs: Figures,
    judged: bool,
) -> Paired:
    where = f"{len(loads)} loads" if len(loads) > 1 else _where(loads[0])
    figures = [(mine[name, load].spread, theirs[name, load].spread) for load in loads]
    if not name.endswith(COST):
        return Paired(Pair(label + name, where, figures), judged)
    trials = [(_trials(mine, name, load), _trials(theirs, name, load)) for load in loads]
    used = [_without_slowed(a, b) for a, b in trials]
    left_out = sum(len(a) + len(b) for a, b in trials) - sum(len(a) + len(b) for a, b in used)
    first, second = (
        [[(trial.cost, trial.load_time) for trial in sides[side]] for sides in used]
        for side in (0, 1)
    )
    part = memory_part(first, second)
    before, after = part.factors if part else (None, None)
    corrected = [
        (
            _times(a, before[at] if before else None, of_a),
            _times(b, after[at] if after else None, of_b),
        )
        for at, ((a, b), (of_a, of_b)) in enumerate(zip(used, figures, strict=True))
    ]
    return Paired(Pair(label + name, where, corrected), judged, left_out, part)


def _trials(figures: Figures, name: str, load: float | None) -> list[CostTrial]:
    """A side's trials at a load. What is not known of each is taken as known of none."""
    costs = figures[name, load].spread.values
    test = name.removesuffix(COST)

    def beside(other: str) -> Sequence[float | None]:
        figure = figures.get((test + other, load))
        known = figure.spread.values if figure else []
        return known if len(known) == len(costs) else [None] * len(costs)

    columns = (costs, beside(LOAD_TIME), beside(FREE_TIME))
    return [CostTrial(*row) for row in zip(*columns, strict=True)]


def _without_slowed(
    a: list[CostTrial], b: list[CostTrial]
) -> tuple[list[CostTrial], list[CostTrial]]:
    """Chosen by the time that neighbours left free, never by what the server took."""
    free = tuple([t for t in side if t.free_s is None or t.free_s >= LEAST_S] for side in (a, b))
    return (free[0], free[1]) if all(free) else (a, b)


def _times(trials: list[CostTrial], factors: list[float] | None, figure: Spread) -> Spread:
    """The costs, each times its factor; the figure as it is, with its reason, if there are none."""
    if not trials:
        return figure
    by = factors or [1.0] * len(trials)
    return spread([t.cost * each for t, each in zip(trials, by, strict=True)], figure.unit)


def _where(load: float | None) -> str:
    return "open flows" if load is None else f"{load:,.0f}/s"
