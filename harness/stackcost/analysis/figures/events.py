"""Figures of an event at a device under test. Times count from the start of the traffic."""

from collections.abc import Callable

from stackcost.analysis.device.event_trial import EventTrial
from stackcost.analysis.figures.figure import Figure, Values

BY_GROUP = "by template group, twice a second"
NOT_LONG = "the event did not happen, or there were too few readings on that side of it"


def _of(
    read: Callable[[EventTrial], float | None], reason: str = ""
) -> Callable[[EventTrial], Values]:
    def compute(event: EventTrial) -> Values:
        value = read(event)
        known = None if value is None else float(value)
        return Values([known], [event.trial.round], reason)

    return compute


AT = Figure[EventTrial](
    name="event.at",
    unit="s",
    definition="when the device's table was full (99 %), its link to the servers was cut, or it "
    "was removed",
    source="conntrack.entries; the harness's clock when it cut the link",
    of="event",
    compute=_of(lambda event: event.at, "the table was never full, or nothing was cut"),
)
DEAD_TIMEOUT = Figure[EventTrial](
    name="event.dead_timeout",
    unit="s",
    definition="for how long the device keeps a closed or unanswered connection in its table",
    source="the device's own settings when the event began",
    of="event",
    compute=_of(lambda event: event.times.dead_timeout_s, "the device told none"),
)
BEFORE = Figure[EventTrial](
    name="event.before",
    unit="1/s",
    definition="requests that were answered on established connections before the event",
    source=f"tcps_rcvbyte of them, {BY_GROUP}",
    of="event",
    compute=_of(lambda event: event.before, NOT_LONG),
)
AFTER = Figure[EventTrial](
    name="event.after",
    unit="1/s",
    definition="requests that were answered on established connections after the event, until the "
    "flood ended",
    source=f"tcps_rcvbyte of them, {BY_GROUP}",
    of="event",
    judged=True,
    compute=_of(lambda event: event.after, NOT_LONG),
)
LOST_ESTABLISHED = Figure[EventTrial](
    name="event.lost_established",
    unit="1",
    definition="connections that were open before the event and were given up",
    source=f"tcps_drops and tcps_conndrops of them, {BY_GROUP}",
    of="event",
    compute=_of(lambda event: event.lost_established),
)
NOT_ENDED = Figure[EventTrial](
    name="event.not_ended",
    unit="1",
    definition="connections of all kinds that were still retransmitting at the end",
    source=f"tcps_testdrops, {BY_GROUP}",
    of="event",
    compute=_of(lambda event: event.not_ended),
)
FIRST_FAILURE = Figure[EventTrial](
    name="event.first_failure",
    unit="s",
    definition="from when on more new connections failed than may be on their way at a reading",
    source=f"tcps_connattempt less tcps_connects of new connections, {BY_GROUP}",
    of="event",
    compute=_of(lambda event: event.first_failure, "no new connections failed"),
)
RECOVERED = Figure[EventTrial](
    name="event.recovered",
    unit="s",
    definition="from when on new connections never failed again",
    source=f"tcps_connattempt less tcps_connects of new connections, {BY_GROUP}",
    of="event",
    compute=_of(lambda event: event.recovered, "none failed, or they failed until the end"),
)
