"""Figures of what the server's side did in its time: the cost by categories of functions."""

from collections.abc import Callable

from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.why.attribution import CategoryTime, attribution, by_category, why_none

SOURCE = (
    "server_cpu, divided by the samples of stacks (perf_event_open, software CPU clock); "
    "harness/stackcost/analysis/why/functions.yaml has the functions of each category"
)


def _of(value: Callable[[CategoryTime], float]) -> Callable[[LoadTrials], dict[str, Values]]:
    """One value of each category; a category without a sample in a trial took nothing there."""

    def compute(loads: LoadTrials) -> dict[str, Values]:
        found = [attribution(readings) for readings in loads.trials]
        if not any(found):
            return {}
        known = [by_category(each.parts) if each and not each.reason else None for each in found]
        names = dict.fromkeys(name for each in known if each for name in each)
        why = loads.first_reason(why_none)
        if not names:
            return {"all": Values([None] * len(found), loads.rounds, why)}
        return {
            name: Values(
                [
                    None if each is None else value(each[name]) if name in each else 0.0
                    for each in known
                ],
                loads.rounds,
                why,
            )
            for name in names
        }

    return compute


WHY = Figure[LoadTrials](
    name="why",
    unit="us",
    table="why",
    definition="server_cpu by what was done: each kind of server_cpu is divided as the "
    "samples of its stacks; a sample counts for its innermost function in the table of categories",
    source=SOURCE,
    of="load",
    compute=_of(lambda part: part.us),
)
ERROR = Figure[LoadTrials](
    name="why_error",
    unit="us",
    table="why",
    definition="standard error of a category's time in one trial, from the number of its samples",
    source=SOURCE,
    of="load",
    compute=_of(lambda part: part.error),
)
BAND = Figure[LoadTrials](
    name="why_interrupts_off",
    unit="us",
    table="why",
    definition="the part of a category's time that may belong to other functions, because "
    "interrupts were off and the sampling clock fired later",
    source=SOURCE,
    of="load",
    compute=_of(lambda part: part.interrupts_off),
)
