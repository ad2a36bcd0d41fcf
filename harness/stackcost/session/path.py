"""Counts frames at each point of the path through a device, to locate lost frames."""

from typing import TypeAlias

from stackcost.contracts.counts import Direction, FramesPassed
from stackcost.session.profile_session import ProfileSession
from stackcost.sides.sampling import Interface

Frames: TypeAlias = dict[Direction, FramesPassed]
READINGS = 5  # at most, until two in turn agree


def count_frames(session: ProfileSession) -> Frames | None:
    """Frames until now by direction; None if no device passes them on between two ports.

    Read it when no frame is in flight: before the load starts and after its last flow has ended.
    A device still sends frames of its own (ARP, neighbour discovery), and one that passes while the
    points are read one after the other would look lost. So they are read until two readings agree;
    where none do, the last one counts.
    Sources: the generator's port counters (opackets, ipackets), the device's interfaces, and that
    of a server on the kernel's stack behind it.
    """
    frames = _read_once(session)
    for _ in range(READINGS - 1):
        before, frames = frames, _read_once(session)
        if frames == before:
            break
    return frames


def _read_once(session: ProfileSession) -> Frames | None:
    frames = session.serving.frames()
    if len(session.serving.wiring.tested) != 2 or not frames:
        return None
    near, far, *behind = frames
    ports = session.generator.stats()
    clients, servers = (
        Interface(received=int(ports[number]["ipackets"]), sent=int(ports[number]["opackets"]))
        for number in "01"
    )
    if behind and behind[0]:
        servers = behind[0]
    return {
        "to servers": _passed(clients, near, far, servers),
        "to clients": _passed(servers, far, near, clients),
    }


def _passed(
    start: Interface, entered: Interface | None, left: Interface | None, end: Interface
) -> FramesPassed:
    """Frames of one direction. An interface of the device that cannot be read is None."""
    return FramesPassed(
        start.sent,
        None if entered is None else entered.received,
        None if left is None else left.sent,
        end.received,
    )


def frames_since(session: ProfileSession, before: Frames | None) -> Frames | None:
    """Frames by direction since `before` was read."""
    now = count_frames(session)
    if now is None or before is None:
        return None
    return {
        way: FramesPassed(
            passed.sent - before[way].sent,
            _since(passed.entered, before[way].entered),
            _since(passed.left, before[way].left),
            passed.arrived - before[way].arrived,
        )
        for way, passed in now.items()
    }


def _since(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else now - before
