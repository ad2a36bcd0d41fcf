"""Counts frames at each point of the path through a device, to locate lost frames."""

from typing import TypeAlias

from stackcost.contracts.counts import Direction, FramesPassed
from stackcost.contracts.wiring import End
from stackcost.harness.session.profile_session import ProfileSession
from stackcost.host.namespace import execute

Frames: TypeAlias = dict[Direction, FramesPassed]


def count_frames(session: ProfileSession) -> Frames | None:
    """Frames until now by direction; None if no device passes them on between two ports.

    Read it when no frame is in flight: before the load starts and after its last flow has ended.
    Sources: the generator's port counters (opackets, ipackets), the device's interfaces, and that
    of a server on the kernel's stack behind it.
    """
    tested = session.bed.wiring.tested
    if len(tested) != 2 or not session.server.passes_frames:
        return None
    near, far = (_interface_frames(end) for end in tested)
    ports = session.client.stats()
    clients, servers = (
        {"rx": int(ports[number]["ipackets"]), "tx": int(ports[number]["opackets"])}
        for number in "01"
    )
    if session.bed.wiring.server:
        servers = _interface_frames(session.bed.wiring.ends[-1])
    return {
        "to servers": FramesPassed(clients["tx"], near["rx"], far["tx"], servers["rx"]),
        "to clients": FramesPassed(servers["tx"], far["rx"], near["tx"], clients["rx"]),
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


def _interface_frames(end: End) -> dict[str, int]:
    """Frames received and sent by one interface (/proc/net/dev, columns 2 and 10)."""
    lines = execute(end.namespace, ["cat", "/proc/net/dev"]).splitlines()
    (line,) = (line for line in lines if line.strip().startswith(f"{end.interface}:"))
    columns = line.partition(":")[2].split()
    return {"rx": int(columns[1]), "tx": int(columns[9])}
