"""Packets of a connection at the server's interface, where each is one frame of a line."""

from stackcost.analysis import flows
from stackcost.analysis.readings import Readings

LOOPBACK = "lo"
LONGEST = 1514  # bytes of a frame with 1,500 bytes of IP, without its checksum
SHORTEST = 54  # Ethernet, IPv4 and TCP without options
NOT_READ = "the counters of the server's interface were not read"


def packets_per_connection(seen: Readings, one_segment: bool) -> float | None:
    """Both ways, per completed connection; None as `why_no_packets` says.

    `one_segment`: the test bed's interfaces have no TSO, so no frame holds several segments.
    """
    sums, count = _sums(seen), flows.completed_in(seen)
    if why_no_packets(seen, one_segment) or not count:
        return None
    return sum(packets for packets, _ in sums.values()) / count


def why_no_packets(seen: Readings, one_segment: bool) -> str:
    """Why packets are no frames of a line: they were not read, or may hold several segments.

    With TSO a virtual link carries what TCP hands over at once, up to 64 KB. The kernel counts
    frames and their bytes, but not the longest one. So it is known to fit a line only if all of a
    connection's bytes of one direction would, were its other frames as short as can be.
    """
    sums, count = _sums(seen), flows.completed_in(seen)
    if not sums:
        return NOT_READ
    if one_segment or not count:
        return ""
    longest = max((size - SHORTEST * packets) / count + SHORTEST for packets, size in sums.values())
    return f"with TSO a frame here may hold {longest:,.0f} B" if longest > LONGEST else ""


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
