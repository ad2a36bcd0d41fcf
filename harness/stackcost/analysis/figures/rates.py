"""Figures of what was offered and completed, how steadily, and of the packets that it took."""

from operator import attrgetter

from stackcost.analysis.cost import core_time, flows
from stackcost.analysis.figures.figure import Declared, Figure, Values
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import steadiness_of
from stackcost.contracts.load.base import RETRANSMITTED
from stackcost.contracts.metrics import (
    INTERFACE_BYTES,
    INTERFACE_PACKETS,
    TCP_COUNTER,
    TREX_COUNTER,
)

LOOPBACK = "lo"
LONGEST = 1514  # bytes of a frame with 1,500 bytes of IP, without its checksum
SHORTEST = 54  # Ethernet, IPv4 and TCP without options
NOT_READ = "the counters of the server's interface were not read"


def packets_per_connection(readings: Readings, one_segment: bool) -> float | None:
    """Both ways, per completed connection; None as `why_no_packets` says.

    `one_segment`: the test bed's interfaces have no TSO, so no frame holds several segments.
    """
    if why_no_packets(readings, one_segment):
        return None
    return flows.per_connection(readings, sum(packets for packets, _ in _sums(readings).values()))


def why_no_packets(readings: Readings, one_segment: bool) -> str:
    """Why packets are no frames of a line: they were not read, or may hold several segments.

    With TSO a virtual link carries what TCP hands over at once, up to 64 KB. The kernel counts
    frames and their bytes, but not the longest one. So it is known to fit a line only if all of a
    connection's bytes of one direction would, were its other frames as short as can be.
    """
    sums, count = _sums(readings), flows.completed_in(readings)
    if not sums:
        return NOT_READ
    if one_segment or not count:
        return ""
    longest = max((size - SHORTEST * packets) / count + SHORTEST for packets, size in sums.values())
    return f"with TSO a frame here may hold {longest:,.0f} B" if longest > LONGEST else ""


def _sums(readings: Readings) -> dict[str, tuple[float, float]]:
    """Packets and their bytes in the sustain window, by direction."""
    found = {}
    for direction in ("receive", "send"):
        packets, size = (
            sum(
                grown
                for name, grown in readings.by_label(
                    metric, "interface", direction=direction
                ).items()
                if name != LOOPBACK
            )
            for metric in (INTERFACE_PACKETS, INTERFACE_BYTES)
        )
        if packets:
            found[direction] = (packets, size)
    return found


def _packets(loads: LoadTrials) -> Values:
    one_segment = loads.context.one_segment
    reason = loads.first_reason(flows.why_no_connection) or loads.first_reason(
        lambda readings: why_no_packets(readings, one_segment)
    )
    return loads.each(lambda readings: packets_per_connection(readings, one_segment), reason)


def _sent_again(loads: LoadTrials) -> dict[str, Values] | None:
    """Of loads with a network of the experiment; elsewhere it is a flag, as it must not be."""
    if not any(readings.trial.traffic.network for readings in loads.trials):
        return None
    return {
        "generator": loads.each(
            lambda readings: flows.per_connection(
                readings, _by_engine(readings, "generator", "client")
            )
        ),
        "server": loads.each(lambda readings: flows.per_connection(readings, _by_server(readings))),
    }


def _by_engine(readings: Readings, engine: str, side: str) -> float | None:
    named = {"engine": engine, "side": side}
    grown = [readings.growth(TREX_COUNTER, counter=each, **named) for each in RETRANSMITTED]
    known = [each for each in grown if each is not None]
    return sum(known) if known else None


def _by_server(readings: Readings) -> float | None:
    if core_time.has_peer(readings):
        return _by_engine(readings, "peer", "server")
    return readings.growth(TCP_COUNTER, counter="TcpRetransSegs")


OFFERED = Declared(
    name="offered_cps",
    unit="1/s",
    definition="connections per second that the generator starts by its schedule, whether or not "
    "earlier ones have ended",
    source="the experiment file; TRex ASTF cps x multiplier",
    of="load",
)
FAILED = Figure[LoadTrials](
    name="failed",
    unit="1",
    definition="connections (HTTP clients: requests) of the whole trial that did not complete; "
    "other figures are of the rest",
    source="the load's own counters: tcps_drops, tcps_conndrops, tcps_testdrops, what failed in "
    "TLS, and flows that could not start; the clients' own output",
    of="load",
    compute=lambda loads: loads.each(lambda readings: float(readings.trial.traffic.failed)),
)
COMPLETED = Figure[LoadTrials](
    name="completed_cps",
    unit="1/s",
    definition="connections that were opened, served and closed in the sustain window, per "
    "second; of HTTP clients requests that were answered well. All figures per completed "
    "connection are divided by these",
    source="generator: tcps_closed less tcps_drops, tcps_conndrops, tcps_testdrops and what failed "
    "in TLS; the server's own count of requests, or, where it keeps none or some failed, the "
    "clients'",
    of="load",
    compute=lambda loads: loads.each(
        flows.completed_rate, loads.first_reason(flows.why_no_connection)
    ),
)
SENT_AGAIN = Figure[LoadTrials](
    name="sent_again",
    unit="1",
    definition="segments that generator and server's stack sent again, per completed connection; "
    "only of experiments with a network, as elsewhere they flag a trial",
    source="tcps_sndrexmitpack and tcps_rexmttimeo_syn of the generator and of a peer; "
    "TcpRetransSegs of /proc/net/snmp in the server's namespace",
    of="load",
    compute=_sent_again,
)
PACKETS = Figure[LoadTrials](
    name="packets",
    unit="1",
    definition="packets at the server's interface, both ways, per completed connection; unknown "
    "where TSO lets a frame hold several segments",
    source="/proc/net/dev of the server's namespace, without loopback",
    of="load",
    compute=_packets,
)


def _steady(name: str, definition: str) -> Figure[LoadTrials]:
    """A part of how steady the rate was in the sustain window (`analysis.steadiness`)."""

    def read(readings: Readings) -> float | None:
        found = steadiness_of(readings)
        return getattr(found, name) if found else None

    return Figure[LoadTrials](
        name=name,
        unit="1",
        definition=definition,
        source="as completed_cps; of HTTP clients always the server's own count of requests",
        of="load",
        of_trials=True,
        compute=lambda loads: loads.each(read),
    )


WARM_UP = Figure[LoadTrials](
    name="warm_up",
    unit="s",
    definition="time from the start of the load until its rate was steady",
    source="as completed_cps",
    of="load",
    of_trials=True,
    compute=lambda loads: loads.each(attrgetter("warm_up_s")),
)
VARIATION = _steady(
    "variation",
    "standard deviation of the rate from second to second in the sustain window, as a share of its "
    "mean",
)
DRIFT = _steady("drift", "growth of the rate over the sustain window, as a share of its mean")
CORRELATION = _steady(
    "correlation", "Pearson's correlation of the running count with time; 1: steady"
)
