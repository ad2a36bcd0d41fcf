"""Selects the figures of two systems that are compared, their series, and the judged ones.

The CPU cost is judged by turns: the trials of a turn share a test bed and a start of the server,
and so also random effects of caches and addresses. So they count as one value over all loads. In
one run the turns of a round are a pair, because they were made at almost the same time. A load
above the ceiling of one system is not judged, because overload changes the cost.
"""

from collections.abc import Collection, Mapping, Sequence
from statistics import geometric_mean, median
from typing import NamedTuple

from stackcost.analysis.comparing.between_runs import BetweenRuns, of_runs
from stackcost.analysis.comparing.comparison import COUNTED, Design, Question
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.figures.figure import RATES
from stackcost.analysis.figures.registry import is_counted, is_judged
from stackcost.analysis.head import COST, Head, SystemFigure
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import Summary
from stackcost.contracts.load import rate_words

ROUNDS_OF_A_RUN = 1000  # more than an experiment may have
PAST_CEILING = "every common load was above the ceiling"


class SystemFigures(NamedTuple):
    """What is known of one system of a run. `figures`: by name and load. `past_ceiling`: loads, by
    test, at which it was past its ceiling. `blocks`: of each of several runs
    (`between_runs.blocks_of`); empty: a run is a block. `all_in`: its cost has the kernel's work
    beside a polling peer in it.
    """

    figures: Mapping[tuple[str, float | None], SystemFigure]
    past_ceiling: Collection[tuple[str, float]] = ()
    blocks: Sequence[int] = ()


def figures_of(summary: Head, name: str) -> SystemFigures:
    """The figures of one system of a run."""
    figures = {
        (each.name, each.at): each for each in summary.system_figures() if each.system == name
    }
    if not isinstance(summary, Summary):
        return SystemFigures(figures)
    levels = [level for each in summary.servers if each.name == name for level in each.levels]
    past = {(level.test, level.offered_cps) for level in levels if level.past_ceiling}
    return SystemFigures(figures, past)


def together(runs: Sequence[SystemFigures], blocks: Sequence[int] = ()) -> SystemFigures:
    """Several runs of one system as one side, with what all of them have.

    The rounds of the second run are numbered from 1,001 on, those of the third from 2,001 on.
    """
    if len(runs) == 1:
        return runs[0]._replace(blocks=blocks)
    first = runs[0].figures
    common = [key for key in first if all(key in run.figures for run in runs)]
    return SystemFigures(
        {
            key: first[key]._replace(spread=_joined([run.figures[key].spread for run in runs]))
            for key in common
        },
        {each for run in runs for each in run.past_ceiling},
        blocks,
    )


def _joined(spreads: Sequence[Spread]) -> Spread:
    rounds, values = [], []
    for at, each in enumerate(spreads):
        values += each.values
        rounds += [at * ROUNDS_OF_A_RUN + number for number, _ in each.by_round()]
    return spread(values, spreads[0].unit, spreads[0].reason, rounds)


Blocks = tuple[Sequence[int], Sequence[int]]


def between_runs(a: Series, b: Series, blocks: Blocks = ((), ())) -> BetweenRuns:
    """How far the means of the runs of both sides may be apart. `blocks`: of each run."""
    loads = [load for load in a.loads if load in b.loads]
    found = of_runs(*(_of_each_block(*each, loads) for each in zip((a, b), blocks, strict=True)))
    several = max(map(len, blocks)) > 1
    return found._replace(not_in_turn=several and all(len(set(each)) == 1 for each in blocks))


def _of_each_block(side: Series, blocks: Sequence[int], loads: Collection[float]) -> list[float]:
    """A run is one value: the median of its turns; a block of runs and several loads are their
    geometric mean.
    """
    runs: dict[int, dict[float, list[float]]] = {}
    for number, trials in side.rounds.items():
        own = runs.setdefault(number // ROUNDS_OF_A_RUN, {})
        for load, value in trials.items():
            if load in loads and value > 0:
                own.setdefault(load, []).append(value)
    found: dict[int, list[float]] = {}
    for at, run in runs.items():
        if run:
            value = geometric_mean(map(median, run.values()))
            found.setdefault(blocks[at] if blocks else at, []).append(value)
    return [geometric_mean(values) for values in found.values()]


def questions(
    a: SystemFigures, b: SystemFigures, label: str = "", same_run: bool = False
) -> list[Question]:
    """All common figures, in the order of A's; each judged cost comes before its loads.

    Of counted runs without the judged figures of time, which neither has.

    `label`: what the figures' names begin with. `same_run`: they took turns, round by round.
    """
    found: list[Question] = []
    tests = set()
    blocks = a.blocks, b.blocks
    counted = any(is_counted(name) for name, _ in a.figures.keys() & b.figures.keys())
    for (name, load), figure in a.figures.items():
        if (name, load) not in b.figures:
            continue
        where = figure.of if load is None else f"{rate_words(load)}/s"
        spreads = figure.spread, b.figures[name, load].spread
        if counted and is_judged(name) and not any(each.values for each in spreads):
            continue
        if not name.endswith(COST) or load is None:
            found.append(_of_spreads(spreads, label + name, where, same_run, blocks))
            continue
        test = name.removesuffix(COST).removesuffix(": ")
        costs = cost_series(a.figures, test), cost_series(b.figures, test)
        loads = [each for each in costs[0].loads if each in costs[1].loads]
        design = Design(same_run, between=None if same_run else between_runs(*costs, blocks))
        if loads and test not in tests:
            past = [at for of, at in (*a.past_ceiling, *b.past_ceiling) if of == test]
            held = [each for each in loads if each not in past]
            found.append(_judged(costs, held, design, label + name))
        tests.add(test)
        if load not in loads:
            question = _of_spreads(spreads, label + name, where, same_run, blocks)
            found.append(question._replace(judged=False))
        elif len(loads) > 1:
            one, other = (at_loads(each, [load]) for each in costs)
            found.append(Question(one, other, design, label + name, where, judged=False))
    return found


def cost_series(figures: Mapping[tuple[str, float | None], SystemFigure], test: str = "") -> Series:
    """CPU per connection of one system at each load, by round."""
    rounds: dict[int, dict[float, float]] = {}
    for (name, load), each in figures.items():
        if name == (f"{test}: {COST}" if test else COST) and load is not None:
            for number, value in each.spread.by_round():
                if value:
                    rounds.setdefault(number, {})[load] = value
    return Series("us", dict(sorted(rounds.items())))


def at_loads(series: Series, loads: Collection[float], reason: str = "") -> Series:
    """The series at these loads alone. `reason`: why there are none, if there are none."""
    rounds = {
        number: {load: seen for load, seen in trials.items() if load in loads}
        for number, trials in series.rounds.items()
    }
    kept = {number: trials for number, trials in rounds.items() if trials}
    return Series(series.unit, kept, series.is_rate, reason="" if kept else reason)


def _judged(
    costs: tuple[Series, Series], held: Sequence[float], design: Design, name: str
) -> Question:
    """The cost of each turn, over the loads that both systems held."""
    where = f"{rate_words(held[0])}/s" if len(held) == 1 else "every load"
    by = "pairs of turns" if design.paired else "turns"
    one, other = (at_loads(each, held, PAST_CEILING) for each in costs)
    return Question(one, other, design, name, f"{where}, by {by}")


def _of_spreads(
    spreads: tuple[Spread, Spread], name: str, where: str, same_run: bool, blocks: Blocks
) -> Question:
    """A figure of which nothing is known but its values."""
    one, other = (Series.of_spread(each, each.unit in RATES) for each in spreads)
    if is_counted(name):
        return Question(one, other, COUNTED, name, where, is_judged(name))
    paired = same_run and one.numbered and other.numbered
    design = Design(paired, between=None if same_run else between_runs(one, other, blocks))
    return Question(one, other, design, name, where, is_judged(name))
