"""Something that happens to a device under traffic."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from stackcost.contracts.counts import StoredData
from stackcost.contracts.event_settings import EventName, EventSettings
from stackcost.contracts.load.base import Flag
from stackcost.contracts.load.profile import ProfileTraffic


@dataclass
class EventTimeline(StoredData):
    """How an event went. `began`: when its traffic started, CLOCK_MONOTONIC seconds.

    `answer_bytes`: of each answer on an established connection. `dead_timeout_s`: seconds for which
    the device keeps a closed or unanswered connection in its table; None: it has none. `cut`: when
    the device's link was cut or the device removed, CLOCK_MONOTONIC seconds; None: it was not.
    """

    began: float
    answer_bytes: int
    dead_timeout_s: int | None
    cut: float | None = None


@dataclass(kw_only=True)
class DeviceEvent(ProfileTraffic):
    """Something that happens to a device under traffic. `timeline`: None until it has begun."""

    flags: ClassVar[tuple[Flag, ...]] = ("suspended",)  # its traffic is disturbed by intent

    kind: Literal["event"] = "event"
    event: EventName
    settings: EventSettings
    timeline: EventTimeline | None = None
