"""Figures of what was offered and completed, and of the packets that it took."""

from stackcost.analysis import flows
from stackcost.analysis.figures.figure import Declared, Figure, Values
from stackcost.analysis.figures.groups import Loads
from stackcost.analysis.packets import packets_per_connection, why_no_packets


def _packets(loads: Loads) -> Values:
    one_segment = loads.context.one_segment
    reason = loads.first_reason(flows.why_no_connection) or loads.first_reason(
        lambda seen: why_no_packets(seen, one_segment)
    )
    return loads.each(lambda seen: packets_per_connection(seen, one_segment), reason)


OFFERED = Declared(
    name="offered_cps",
    unit="1/s",
    definition="connections per second that the generator starts by its schedule, whether or not "
    "earlier ones have ended (open loop)",
    source="the experiment file; TRex ASTF cps x multiplier",
    of="load",
)
FAILED = Figure[Loads](
    name="failed",
    unit="1",
    definition="connections (HTTP clients: requests) of the whole trial that did not complete, for "
    "any reason; all other figures are of the rest",
    source="the load's own counters: tcps_drops, tcps_conndrops, tcps_testdrops and flows that "
    "could not start; the clients' own output",
    of="load",
    compute=lambda loads: loads.each(lambda seen: float(seen.trial.traffic.failed)),
)
COMPLETED = Figure[Loads](
    name="completed_cps",
    unit="1/s",
    definition="connections that were opened, fully served and closed during the sustain window, "
    "per second; of HTTP clients requests",
    source="generator: tcps_closed less tcps_drops, tcps_conndrops, tcps_testdrops; the server's "
    "own count of requests, or the clients'",
    of="load",
    compute=lambda loads: loads.each(
        flows.completed_rate, loads.first_reason(flows.why_no_connection)
    ),
)
PACKETS = Figure[Loads](
    name="packets",
    unit="1",
    definition="packets at the server's interface, both ways, per completed connection; unknown "
    "where the interface has TSO and a frame may hold several segments",
    source="/proc/net/dev of the server's namespace, without loopback",
    of="load",
    compute=_packets,
)
