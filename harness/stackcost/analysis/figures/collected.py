"""Figures that a collector of the user's own brings with it, computed from its metric."""

from stackcost.analysis.cpu import why_none_per_connection
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.flows import completed_in
from stackcost.analysis.readings import Readings
from stackcost.contracts.collector import CollectedFigure

PHASE = "sustain"


def figure(asked: CollectedFigure) -> Figure[LoadTrials]:
    """The figure that a collector declared: its unit is that of its values times `factor`."""

    def compute(loads: LoadTrials) -> dict[str, Values] | Values:
        reason = loads.first_reason(lambda seen: seen.why_unknown(asked.metric))
        if asked.per == "connection":
            reason = reason or loads.first_reason(why_none_per_connection)
        reason = reason or f"no sample of {asked.metric} was read in the sustain window"
        found = [_values(seen, asked) for seen in loads.trials]
        if asked.by:
            return loads.of_each(found, reason)
        sums = [sum(each.values()) if each else None for each in found]
        return Values(sums, loads.rounds, reason)

    return Figure[LoadTrials](
        name=asked.name,
        unit=asked.unit,
        definition=asked.definition,
        source=asked.source,
        of="load",
        compute=compute,
    )


def _values(seen: Readings, asked: CollectedFigure) -> dict[str, float]:
    """By label, or of the metric as a whole under the empty name."""
    if PHASE not in seen.phases:
        return {}
    whole = {"connection": completed_in(seen), "second": seen.phases[PHASE].length, "": 1.0}
    divisor = whole[asked.per]
    if not divisor:
        return {}
    found = seen.by_label(asked.metric, PHASE, asked.by)
    return {name: asked.factor * value / divisor for name, value in found.items()}
