"""What a device under test paid, and where on the way through it frames were lost."""

from dataclasses import dataclass

from stackcost.analysis import traffic
from stackcost.analysis.readings import Readings
from stackcost.contracts.trial import Trial


@dataclass(frozen=True, slots=True)
class LostFrames:
    """Frames of one trial that were lost, by where; both directions together.

    `before`: sent by the generator and not received by the device. `inside`: received by the device
    and not sent on. `after`: sent by the device and not received by the generator.
    """

    before: int
    inside: int
    after: int


def lost_frames(trial: Trial) -> LostFrames | None:
    """Where frames were lost over the whole trial; None when they were not counted.

    A device may send frames of its own (resets, ICMP), which hide as many lost inside.
    """
    ways = traffic.frames(trial)
    if not ways:
        return None

    return LostFrames(
        before=sum(max(0, each.sent - each.entered) for each in ways.values()),
        inside=sum(max(0, each.entered - each.left) for each in ways.values()),
        after=sum(max(0, each.left - each.arrived) for each in ways.values()),
    )


def has_server_behind(trial: Trial) -> bool:
    """Whether a real server answered behind the device: the generator counts no requests.

    Runs of before its processes were read are told by the frames that were counted.
    """
    if any(sample.metric == "behind.cpu_time" for sample in trial.samples):
        return True
    return bool(traffic.frames(trial)) and traffic.server_requests(trial) is not None


def tracking_events(seen: Readings) -> dict[str, int]:
    """Growth of connection tracking's counters over the whole trial, by name."""
    found: dict[str, int] = {}
    for phase in seen.phases:
        for event, grown in seen.by_label("conntrack.events", phase, "event").items():
            found[event] = found.get(event, 0) + round(grown)
    return found
