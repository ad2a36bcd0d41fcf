"""Figures of how steady the rate of a load was."""

from operator import attrgetter

from stackcost.analysis.figures.figure import Figure
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.flags import steadiness_of
from stackcost.analysis.readings import Readings


def _steady(name: str, definition: str) -> Figure[LoadTrials]:
    """A part of how steady the rate was in the sustain window (`stackcost.analysis.steadiness`)."""

    def read(readings: Readings) -> float | None:
        found = steadiness_of(readings)
        return getattr(found, name) if found else None

    return Figure[LoadTrials](
        name=name,
        unit="1",
        definition=definition,
        source="tcps_closed of the generator; of HTTP clients the server's own count of requests",
        of="load",
        of_trials=True,
        compute=lambda loads: loads.each(read),
    )


WARM_UP = Figure[LoadTrials](
    name="warm_up",
    unit="s",
    definition="time from the start of the load until its rate was steady",
    source="tcps_closed of the generator",
    of="load",
    of_trials=True,
    compute=lambda loads: loads.each(attrgetter("warm_up_s")),
)
VARIATION = _steady(
    "variation",
    "standard deviation of the rate from second to second in the sustain window, as a share of its "
    "mean",
)
DRIFT = _steady("drift", "growth of the rate over the sustain window, as a share of its mean")
CORRELATION = _steady(
    "correlation", "Pearson's correlation of the running count with time; 1: steady"
)
