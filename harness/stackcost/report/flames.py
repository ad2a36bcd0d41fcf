"""The flame graphs of a stored run: of each system at each load, and of what two differ in."""

from collections.abc import Iterator, Mapping, Sequence

from stackcost.analysis.summary import Factor
from stackcost.contracts.load import load_words
from stackcost.report.plots.flame import Drawing, differential_flame, flame
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.sampled import Folded, SampledLoad, folded_stacks
from stackcost.report.words import number, pair
from stackcost.store import RunFolder


def flame_graphs(folders: Sequence[RunFolder], opened: OpenedRuns) -> Iterator[Drawing]:
    """First of each pair of systems at the load of their factor, then of each system and load.

    None of runs without samples.
    """
    for each in opened.costs:
        folder = next(folder for folder in folders if folder.manifest().run == each.manifest.run)
        yield from _of_run(folded_stacks(folder), each.summary.factors)


def _of_run(found: Mapping[SampledLoad, Folded], factors: Sequence[Factor]) -> Iterator[Drawing]:
    for factor in factors:
        sides = [
            stacks
            for name in (factor.baseline, factor.against)
            for load, stacks in found.items()
            if load.system == name and not load.test and factor.is_at(load.offered_cps)
        ]
        if factor.name == "cpu" and len(sides) == 2:
            yield differential_flame(
                f"{pair(factor.baseline, factor.against)} at {factor.at}: a box is as wide as the "
                f"longer of both times; orange where {factor.baseline} takes more, blue where "
                f"{factor.against} does",
                *sides,
            )
    for load, stacks in found.items():
        total = number(sum(stacks.values()))
        at = load_words(load.test, load.offered_cps)
        yield flame(f"{load.system} at {at}: {total} us per connection", stacks)
