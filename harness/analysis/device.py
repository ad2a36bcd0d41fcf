"""What a device under test paid, and where on the way through it frames were lost."""

from collections.abc import Collection
from dataclasses import dataclass

from harness.analysis import cpu
from harness.analysis.readings import Readings
from harness.model import Trial
from harness.testbed.wiring import DUT_CLIENT_INTERFACE, DUT_NAMESPACE, DUT_SERVER_INTERFACE


@dataclass(frozen=True, slots=True)
class Lost:
    """Frames of one trial that were lost, by where; both directions together.

    `before`: sent by the generator and not received by the device. `inside`: received by the device
    and not sent on. `after`: sent by the device and not received by the generator.
    """

    before: int
    inside: int
    after: int


def lost_frames(trial: Trial) -> Lost | None:
    """Where frames were lost over the whole trial; None when they were not counted.

    A device may send frames of its own (resets, ICMP), which hide as many lost inside.
    """
    ways = trial.load.get("frames")
    if not ways:
        return None

    def missing(earlier: str, later: str) -> int:
        return sum(max(0, points[earlier] - points[later]) for points in ways.values())

    return Lost(missing("sent", "entered"), missing("entered", "left"), missing("left", "arrived"))


def has_server_behind(trial: Trial) -> bool:
    """Whether a real server answered behind the device: the generator counts no requests."""
    return bool(trial.load.get("frames")) and trial.load.get("server_requests") is not None


def frames_entered(seen: Readings, phase: str = "sustain") -> float | None:
    """Frames that the device's links received in a phase."""
    counts = [
        seen.growth(
            "interface.packets",
            phase,
            namespace=DUT_NAMESPACE,
            interface=interface,
            direction="receive",
        )
        for interface in (DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE)
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def softirq_per_frame(
    seen: Readings, cpus: Collection[int], phase: str = "sustain"
) -> float | None:
    """Microseconds of softirq on the device's cores for each frame that it received."""
    spent, frames = cpu.kernel_seconds(seen, cpus, phase)["softirq"], frames_entered(seen, phase)
    return spent / frames * cpu.MICROSECONDS if spent is not None and frames else None


def tracking_events(seen: Readings) -> dict[str, int]:
    """Growth of connection tracking's counters over the whole trial, by name."""
    found: dict[str, int] = {}
    for phase in seen.trial.phases:
        for event, grown in seen.by_label("conntrack.events", phase, "event").items():
            found[event] = found.get(event, 0) + round(grown)
    return found
