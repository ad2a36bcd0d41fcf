"""Counts frames at each point of the path through a device, to locate lost frames."""

from typing import TypeAlias

from stackcost.contracts.counts import Direction, FramesPassed
from stackcost.harness.serving.side import Interface
from stackcost.harness.session.profile_session import ProfileSession

Frames: TypeAlias = dict[Direction, FramesPassed]


def count_frames(session: ProfileSession) -> Frames | None:
    """Frames until now by direction; None if no device passes them on between two ports.

    Read it when no frame is in flight: before the load starts and after its last flow has ended.
    Sources: the generator's port counters (opackets, ipackets), the device's interfaces, and that
    of a server on the kernel's stack behind it.
    """
    frames = session.serving.frames()
    if len(session.serving.wiring.tested) != 2 or not frames:
        return None
    near, far, *behind = frames
    ports = session.loading.stats()
    clients, servers = (
        Interface(received=int(ports[number]["ipackets"]), sent=int(ports[number]["opackets"]))
        for number in "01"
    )
    if behind:
        (servers,) = behind
    return {
        "to servers": FramesPassed(clients.sent, near.received, far.sent, servers.received),
        "to clients": FramesPassed(servers.sent, far.received, near.sent, clients.received),
    }


def frames_since(session: ProfileSession, before: Frames | None) -> Frames | None:
    """The same since `before` was read."""
    now = count_frames(session)
    if now is None or before is None:
        return None
    return {
        way: FramesPassed(
            passed.sent - before[way].sent,
            passed.entered - before[way].entered,
            passed.left - before[way].left,
            passed.arrived - before[way].arrived,
        )
        for way, passed in now.items()
    }
