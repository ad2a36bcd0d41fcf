"""The figures of two systems side by side: what of them is judged, and over which trials.

The CPU cost is judged by turns: a turn's trials share one test bed and one start of the server,
whose luck with caches and addresses they share too, so that they count as one, over its loads. In
one run the turns of a round are a pair, as the hour was much the same for both. Costs are those of
whole trials, from which what neighbours on the host added is taken off (`same_host`): of many
trials that is known better than what one of them took in the slices that were free of neighbours.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stackcost.analysis.compare import RATE, Comparison, Pair, compare, pairs_needed
from stackcost.analysis.figures import Figure, figures
from stackcost.analysis.same_host import HostPart, Observed, host_part
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import Summary, TrialRow

# The answer's own figures; their parts explain them and would only cost the test its power.
JUDGED = ("server_cpu_total", "memory.total", "http.rate")
COST = "server_cpu_total"
LEAST_PAIRS = pairs_needed(RATE / 2)  # where the bytes of a flow are judged beside it

Turns = dict[int, TrialRow]  # the trials at one load, by round


class Measured(NamedTuple):
    """What is known of one system. `figures`: by name and load."""

    figures: Mapping[tuple[str, float | None], Figure]
    trials: Sequence[TrialRow]


def measured(summary: Summary, system: str) -> Measured:
    """Of one system of a run, and the trials that are in its figures."""
    own = {(each.name, each.at): each for each in figures(summary) if each.server == system}
    used = [each for each in summary.trials if each.server == system and not each.set_aside]
    return Measured(own, used)


class Paired(NamedTuple):
    """A figure of both. `judged`: whether it gets a verdict.

    `left_out`: trials of A and B without the other of their pair; `host`: what was taken off from
    the others.
    """

    pair: Pair
    judged: bool
    left_out: int = 0
    host: HostPart | None = None


def paired(
    mine: Measured, theirs: Measured, label: str = "", same_run: bool = False
) -> list[Paired]:
    """All figures that both have, in the order of A's; each cost that is judged before its loads.

    `label`: what the figures' names begin with. `same_run`: they took turns, round by round.
    """
    found: list[Paired] = []
    costs = set()
    for (name, load), figure in mine.figures.items():
        if (name, load) not in theirs.figures:
            continue
        is_cost = name.endswith(COST)
        if is_cost and name not in costs:
            costs.add(name)
            found += _cost(name, label, mine.trials, theirs.trials, same_run)
        where = "open flows" if load is None else f"{load:,.0f}/s"
        pair = Pair(label + name, where, figure.spread, theirs.figures[name, load].spread)
        found.append(Paired(pair, is_judged(name) and not is_cost))
    return found


def compare_paired(found: Sequence[Paired]) -> list[Comparison]:
    """Each compared; a difference has to stand even if what was taken off is off."""
    return compare(
        [each.pair for each in found],
        [each.judged for each in found],
        unsure=[each.host.unsure if each.host else 0.0 for each in found],
    )


def is_judged(name: str) -> bool:
    """Whether a figure is one of the answer's own."""
    return name.rpartition(": ")[2] in JUDGED


def _cost(
    name: str,
    label: str,
    mine: Sequence[TrialRow],
    theirs: Sequence[TrialRow],
    same_run: bool,
) -> list[Paired]:
    """The cost of each turn, over the loads that both had."""
    test = name.removesuffix(COST).removesuffix(": ")
    a, b = _by_load(mine, test), _by_load(theirs, test)
    loads = [load for load in a if load in b]
    if not loads:
        return []
    used = {load: (a[load], b[load]) for load in loads}
    pairs = {load: _in_both(*turns) for load, turns in used.items()} if same_run else {}
    matched = len({number for turns, _ in pairs.values() for number in turns}) >= LEAST_PAIRS
    if matched:
        used = {load: turns for load, turns in pairs.items() if turns[0]}
    first, second = ([turns[side] for turns in used.values()] for side in (0, 1))
    part = host_part([_group(turns) for turns in first], [_group(turns) for turns in second])
    before, after = part.factors if part else (None, None)
    one, other = _over_loads(_logarithms(first, before), _logarithms(second, after))
    where = "every load" if len(used) > 1 else f"{next(iter(used)):,.0f}/s"
    left_out = sum(len(a[load]) + len(b[load]) for load in loads)
    left_out -= sum(len(turns) for turns in first + second)
    by = "pairs of turns" if matched else "turns"
    pair = Pair(label + name, f"{where}, by {by}", one, other, matched)
    return [Paired(pair, True, left_out, part)]


def _by_load(trials: Sequence[TrialRow], test: str) -> dict[float, Turns]:
    found: dict[float, Turns] = {}
    for trial in trials:
        if trial.part == "load" and trial.test == test and trial.server_cpu_total:
            found.setdefault(trial.offered_cps, {})[trial.round] = trial
    return found


def _in_both(a: Turns, b: Turns) -> tuple[Turns, Turns]:
    rounds = sorted(a.keys() & b.keys())
    return {number: a[number] for number in rounds}, {number: b[number] for number in rounds}


def _group(turns: Turns) -> list[Observed]:
    return [Observed(_seen(each), each.load_time, each.call_time) for each in turns.values()]


def _seen(trial: TrialRow) -> float:
    """Its cost before anything is taken off: of the whole trial, if it is known how slow its cores
    were, and else of the slices that were free of neighbours.
    """
    return (trial.whole_cpu_total if trial.call_time else trial.server_cpu_total) or 0.0


def _logarithms(
    loads: Sequence[Turns], factors: Sequence[Sequence[float]] | None
) -> list[dict[int, float]]:
    """Of the costs at each load by round, each times its factor; of the free slices without any."""
    costs = [[trial.server_cpu_total or 0.0 for trial in turns.values()] for turns in loads]
    if factors is not None:
        seen = [[_seen(trial) for trial in turns.values()] for turns in loads]
        costs = [np.multiply(*each).tolist() for each in zip(seen, factors, strict=True)]
    return [
        dict(zip(turns, np.log(part).tolist(), strict=True))
        for turns, part in zip(loads, costs, strict=True)
    ]


def _over_loads(
    mine: Sequence[dict[int, float]], theirs: Sequence[dict[int, float]]
) -> tuple[Spread, Spread]:
    """A value for each turn of both: its cost, over several loads as a multiple of A's median.

    At each load a trial is seen against the middle of both sides there, so that a turn of which one
    load is missing is no dearer or cheaper for that.
    """
    if len(mine) == 1:
        a, b = (spread(np.exp(list(side[0].values())).tolist(), "us") for side in (mine, theirs))
        return a, b
    middles = [
        (float(np.mean(list(a.values()))) + float(np.mean(list(b.values())))) / 2
        for a, b in zip(mine, theirs, strict=True)
    ]

    first, second = _turns(mine, middles), _turns(theirs, middles)
    usual = float(np.median(first))
    a, b = (spread(np.exp(np.subtract(side, usual)).tolist(), "of A") for side in (first, second))
    return a, b


def _turns(side: Sequence[dict[int, float]], middles: Sequence[float]) -> list[float]:
    """Of each turn the mean over its loads of how far its trial is from the middle there."""
    apart: dict[int, list[float]] = {}
    for at_load, middle in zip(side, middles, strict=True):
        for number, cost in at_load.items():
            apart.setdefault(number, []).append(cost - middle)
    return [float(np.mean(apart[number])) for number in sorted(apart)]
