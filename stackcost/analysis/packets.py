"""Packets of a connection at the server's interface, where each is one frame of a line."""

from stackcost.analysis import flows
from stackcost.analysis.readings import Readings

LOOPBACK = "lo"
LONGEST = 1514  # bytes of a frame with 1,500 bytes of IP, without its checksum
NOT_READ = "the counters of the server's interface were not read"


def packets_per_connection(seen: Readings) -> float | None:
    """Both ways, per completed connection; None as `why_no_packets` says."""
    sums, count = _sums(seen), flows.completed_in(seen)
    if why_no_packets(seen) or not count:
        return None
    return sum(packets for packets, _ in sums.values()) / count


def why_no_packets(seen: Readings) -> str:
    """Why packets are no frames of a line: they were not read, or they hold several segments.

    Without AF_XDP a virtual link carries what TCP hands over at once, up to 64 KB.
    """
    sums = _sums(seen)
    if not sums:
        return NOT_READ
    mean = max(size / packets for packets, size in sums.values())
    return f"a frame here holds several segments: {mean:,.0f} B" if mean > LONGEST else ""


def _sums(seen: Readings) -> dict[str, tuple[float, float]]:
    """Packets and their bytes in the sustain window, by direction."""
    found = {}
    for direction in ("receive", "send"):
        packets, size = (
            sum(
                grown
                for name, grown in seen.by_label(
                    f"interface.{what}", "sustain", "interface", direction=direction
                ).items()
                if name != LOOPBACK
            )
            for what in ("packets", "bytes")
        )
        if packets:
            found[direction] = (packets, size)
    return found
