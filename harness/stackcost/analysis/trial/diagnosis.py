"""Where a trial's load did not pass, which way, and how many: from what was counted alone.

The screen, the report and the search for a ceiling all say this in the same words. A sign is of the
whole trial. A sign that was not read is left out, and so is one that is zero.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.limits import full_accept_queue
from stackcost.contracts import metrics
from stackcost.contracts.counts import Direction, FramesPassed, Limits
from stackcost.contracts.sample import Metric
from stackcost.contracts.words import count

Place = Literal[
    "frame size",
    "generator",
    "connection tracking",
    "no route",
    "packet queue",
    "accept queue",
    "SYN queue",
    "before the device",
    "in the device",
    "behind the device",
    "on the way",
    "reset",
]


QUEUES: tuple[Place, ...] = ("packet queue", "accept queue", "SYN queue")


class Finding(NamedTuple):
    """One sign of a loss: its place, and a sentence with its figures."""

    place: Place
    words: str


# What an engine gave up (docs/rpc-extensions.md), and its frames' place. Reasons that are not here
# are frames that were in nobody's connection, and losses that an impairment was asked for.
ENGINE_DROPS: dict[str, tuple[Place, str]] = {
    "frame_refused": ("frame size", "were refused by the sending device: longer than its MTU"),
    "link_down": ("on the way", "were not sent: the link was down"),
    "no_buffer": ("generator", "were not sent: no packet buffer was left"),
    "no_payload_buffer": ("generator", "were not sent: no packet buffer was left for payload"),
    "ring_full": ("on the way", "were not sent: the in-memory wire was full"),
    "device_full": ("on the way", "were not sent: the device had no room"),
    "lost": ("on the way", "were lost by the receiving device"),
    "refused": ("on the way", "were taken by the sending device, and its kernel refused them"),
    "length": ("on the way", "arrived with lengths that contradict each other"),
    "ipv4_fragment": ("frame size", "arrived as IPv4 fragments, which an engine does not take"),
    "ip_checksum": ("on the way", "arrived with a bad IP checksum"),
    "transport_checksum": ("on the way", "arrived with a bad TCP or UDP checksum"),
}
# Counters of the system's kernel (RFC 4293, and the kernel's own SNMP tables).
KERNEL_DROPS: dict[str, tuple[Place, str]] = {
    "IpFragFails": ("frame size", "IPv4 packets were longer than the next link's MTU"),
    "Ip6InTooBigErrors": ("frame size", "IPv6 packets were longer than the next link's MTU"),
    "Ip6FragFails": ("frame size", "IPv6 packets could not be fragmented"),
    "IpOutNoRoutes": ("no route", "IPv4 packets had no route"),
    "Ip6InNoRoutes": ("no route", "IPv6 packets had no route"),
    "Ip6OutNoRoutes": ("no route", "sent IPv6 packets had no route"),
    "IpInDiscards": ("in the device", "received IPv4 packets were discarded by the kernel"),
    "IpOutDiscards": ("in the device", "IPv4 packets of the kernel's own (ICMP) were not sent"),
    "Ip6InDiscards": ("in the device", "received IPv6 packets were discarded by the kernel"),
    "Ip6OutDiscards": ("in the device", "IPv6 packets of the kernel's own (ICMP) were not sent"),
    "IcmpOutDestUnreachs": ("no route", "packets were answered: destination unreachable"),
    "Icmp6OutDestUnreachs": ("no route", "packets were answered: destination unreachable"),
}
TRACKING_DROPS = {
    "drop": "packets were dropped by connection tracking: its table had no room",
    "insert_failed": "entries were not taken into the table of connection tracking",
}


def diagnosis(readings: Readings) -> list[Finding]:
    """All signs of one trial, those that name a cause first.

    Where no frame is known to be lost at a point, what the clients' TCP saw is the last sign.
    """
    found = [*refused(readings), *queues(readings), *located(readings)]
    return found or list(unanswered(readings))


def refused(readings: Readings) -> Iterator[Finding]:
    """What an engine, the kernel or connection tracking counts as refused."""
    for engine in ("generator", "peer"):
        for reason, (place, words) in ENGINE_DROPS.items():
            if number := grown(readings, metrics.ENGINE_DROPS, engine=engine, reason=reason):
                yield Finding(place, f"{count(number, 'frame')} of the {engine} {words}")
        if number := grown(readings, metrics.ENGINE_PATH_MTU_MESSAGES, engine=engine):
            told = (
                s for each in readings.series(metrics.ENGINE_PATH_MTU, engine=engine) for s in each
            )
            least = min((s.value for s in told if s.value), default=0)
            mtu = f"{least:,.0f}" if least else "unknown"
            words = f"routers answered {number:,} longer frames of the {engine}, which sent again"
            yield Finding("frame size", f"path MTU {mtu}: {words}")
    for address in unresolved(readings):
        yield Finding("no route", f"neighbour {address} does not answer ARP")
    for counter, (place, words) in KERNEL_DROPS.items():
        if number := _refused_by_ip(readings, counter):
            yield Finding(place, f"{number:,} {words} ({counter})")
    for event, words in TRACKING_DROPS.items():
        if number := grown(readings, metrics.CONNTRACK_EVENTS, event=event):
            yield Finding("connection tracking", f"{number:,} {words}")


def unresolved(readings: Readings) -> list[str]:
    """Addresses of IPv4 neighbours whose hardware address was asked for in vain.

    An entry stays for a while when it is in use no more. One that is in use is new in the trial, or
    the kernel answers what it drops ("host unreachable"), once it has given the search up.
    """
    found = set()
    for series in readings.series(metrics.NEIGHBOUR_UNRESOLVED):
        here, first = series[0].labels["namespace"], series[0].time
        read = [
            each.time
            for each in readings.samples(metrics.IP_COUNTER)
            if each.labels["namespace"] == here
        ]
        new = first > min(read, default=first)
        labels = {"counter": "IcmpOutDestUnreachs", "namespace": here}
        if new or grown(readings, metrics.IP_COUNTER, **labels):
            found.add(series[0].labels["address"])
    return sorted(found)


def queues(readings: Readings) -> Iterator[Finding]:
    """Queues of the system's kernel that overflowed, or that are full."""
    if dropped := grown(readings, metrics.SOFTNET_DROPPED):
        words = f"a full backlog dropped {count(dropped, 'packet')} (net.core.netdev_max_backlog)"
        yield Finding("packet queue", words)
    if overflowed := grown(readings, metrics.TCP_COUNTER, counter="TcpExtListenOverflows"):
        queue = (readings.trial.traffic.limits or Limits()).accept_queue
        room = f" (its length is {queue.limit:,})" if queue else ""
        yield Finding("accept queue", f"the accept queue overflowed {overflowed:,} times{room}")
    elif waiting := full_accept_queue(readings):  # of Onload: not in the kernel's counters
        yield Finding("accept queue", waiting)
    counters = ("TcpExtTCPReqQFullDrop", "TcpExtTCPReqQFullDoCookies")
    if full := sum(grown(readings, metrics.TCP_COUNTER, counter=counter) for counter in counters):
        yield Finding("SYN queue", f"the queue of half-open connections was full {full:,} times")


def located(readings: Readings) -> list[Finding]:
    """Resets and lost frames: first the resets, if most of what failed was ended by one."""
    lost, reset = list(lost_frames(readings)), list(resets(readings))
    mostly = 2 * sum(_reset(readings)) > readings.trial.traffic.failed
    return reset + lost if mostly else lost + reset


def resets(readings: Readings) -> Iterator[Finding]:
    """Connections that a reset (RST) ended, before they were established or after; whose it was."""
    refused, cut = _reset(readings)
    attempted = readings.trial.traffic.counter("tcps_connattempt")
    if not refused and not cut:
        return
    said = [f"{refused:,} of {attempted:,} connections were refused"] if refused else []
    said += [f"{cut:,} of {attempted:,} connections were cut off"] if cut else []
    passed = (readings.trial.traffic.frames or {}).values()
    own = sum(
        max(0, each.left - each.entered)
        for each in passed
        if each.left is not None and each.entered is not None
    )
    whose = f"; the device sent {count(own, 'frame')} of its own" if own else ""
    place: Place = "in the device" if own else "reset"
    yield Finding(place, f"{' and '.join(said)} by a reset (RST){whose}")


def lost_frames(readings: Readings) -> Iterator[Finding]:
    """Between which two of the four points of a path through a device frames vanished, the most
    first.

    A device may send frames of its own (resets, ICMP, ARP), which hide as many lost inside.
    """
    passed = (readings.trial.traffic.frames or {}).items()
    lost = [each for way, frames in passed for each in _lost(way, frames)]
    yield from (found for _, found in sorted(lost, key=lambda each: -each[0]))


def unanswered(readings: Readings) -> Iterator[Finding]:
    """What the clients' TCP waited for in vain, where no counter says what became of it."""
    trial = readings.trial
    attempted, connected, again = (
        trial.traffic.counter(name)
        for name in ("tcps_connattempt", "tcps_connects", "tcps_rexmttimeo_syn")
    )
    network = trial.traffic.network
    if attempted > connected or (again and not (network and network.asked.sends_again)):
        missing = f"{attempted - connected:,} of {attempted:,} SYNs were not answered and "
        sent = f"{again:,} were retransmitted"
        if attempted <= connected:
            missing, sent = "", f"{again:,} of {attempted:,} SYNs were retransmitted"
        where = "and no counter shows where they or their answers were dropped"
        yield Finding("on the way", f"{missing}{sent}, {where}")
    if connected and not trial.traffic.completed:
        arrived = trial.traffic.received_bytes
        words = (
            f"all {connected:,} established connections came to no end; {arrived:,} bytes of "
            "responses arrived"
        )
        if not arrived:
            words += (
                ": short frames pass and long ones do not, as where an MTU is too small and ICMP "
                "does not say so, or the server does not answer"
            )
        yield Finding("on the way", words)


def grown(readings: Readings, metric: Metric, **labels: str) -> int:
    """By how much counters grew over the whole trial; 0 when they were not read."""
    parts = (readings.at(phase).growth(metric, **labels) or 0.0 for phase in readings.phases)
    return round(sum(parts))


def _refused_by_ip(readings: Readings, counter: str) -> int:
    """How many packets a counter refused. IPv6 counts one that is too long twice (ip6_forward)."""
    number = grown(readings, metrics.IP_COUNTER, counter=counter)
    if counter == "Ip6FragFails":
        number -= grown(readings, metrics.IP_COUNTER, counter="Ip6InTooBigErrors")
    return max(0, number)


def _reset(readings: Readings) -> tuple[int, int]:
    """Connections that a reset ended: before they were established, after.

    An engine counts those that it gave up by reason; a reset is what is left.
    """
    before, after, *otherwise = (
        readings.trial.traffic.counter(name)
        for name in (
            "tcps_conndrops",
            "tcps_drops",
            "tcps_timeoutdrop",
            "tcps_keepdrops",
            "tcps_persistdrop",
        )
    )
    endless = grown(readings, metrics.ENGINE_DROPS, engine="generator", reason="endless_program")
    by_reset = max(0, before + after - sum(otherwise) - endless)
    refused = min(by_reset, max(0, before - sum(otherwise)))
    return refused, by_reset - refused


def _lost(way: Direction, passed: FramesPassed) -> Iterator[tuple[int, Finding]]:
    """What was lost between two points of a direction, and how many frames."""
    near, far = (
        ("generator", "server's end") if way == "to servers" else ("server's end", "clients")
    )
    if passed.entered is None or passed.left is None:
        points: list[tuple[Place, int, int, str]] = [
            (
                "on the way",
                passed.sent,
                passed.arrived,
                "were lost in the device, or on the way to or from it",
            )
        ]
    else:
        points = [
            (
                "before the device",
                passed.sent,
                passed.entered,
                f"were lost between the {near} and the device",
            ),
            ("in the device", passed.entered, passed.left, "were lost in the device"),
            (
                "behind the device",
                passed.left,
                passed.arrived,
                f"were lost between the device and the {far}",
            ),
        ]
    for place, before, after, words in points:
        if before > after:
            many = f"all {before:,}" if after <= 0 else f"{before - after:,} of {before:,}"
            yield before - after, Finding(place, f"{many} frames {way} {words}")
