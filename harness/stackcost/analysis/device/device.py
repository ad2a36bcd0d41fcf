"""What a device under test paid, and where on the way through it frames were lost."""

from dataclasses import dataclass

from stackcost.analysis.readings import Readings
from stackcost.contracts.counts import FramesPassed
from stackcost.contracts.metrics import BACKEND_CPU_TIME, CONNTRACK_EVENTS
from stackcost.contracts.trial import Trial


@dataclass(frozen=True, slots=True)
class LostFrames:
    """Frames of one trial that were lost, by where; both directions together.

    `before`: sent by the generator and not received by the device. `inside`: received by the device
    and not sent on. `after`: sent by the device and not received by the generator. `somewhere`: any
    of these, where the device is not read.
    """

    before: int
    inside: int
    after: int
    somewhere: int = 0


def lost_frames(trial: Trial) -> LostFrames | None:
    """Where frames were lost over the whole trial; None when they were not counted.

    A device may send frames of its own (resets, ICMP, ARP), which hide as many lost inside.
    """
    ways = trial.traffic.frames
    if not ways:
        return None
    lost = [_lost(each) for each in ways.values()]
    return LostFrames(
        before=sum(each.before for each in lost),
        inside=sum(each.inside for each in lost),
        after=sum(each.after for each in lost),
        somewhere=sum(each.somewhere for each in lost),
    )


def _lost(way: FramesPassed) -> LostFrames:
    if way.entered is None or way.left is None:
        return LostFrames(0, 0, 0, max(0, way.sent - way.arrived))
    return LostFrames(
        before=max(0, way.sent - way.entered),
        inside=max(0, way.entered - way.left),
        after=max(0, way.left - way.arrived),
    )


def has_backend(trial: Trial) -> bool:
    """Whether a real server answered behind the device: the generator counts no requests."""
    return any(sample.metric == BACKEND_CPU_TIME.name for sample in trial.samples)


def tracking_events(readings: Readings) -> dict[str, int]:
    """Growth of connection tracking's counters over the whole trial, by name."""
    found: dict[str, int] = {}
    for phase in readings.phases:
        for event, grown in readings.at(phase).by_label(CONNTRACK_EVENTS, "event").items():
            found[event] = found.get(event, 0) + round(grown)
    return found
