"""What a slope of bytes per flow comes to at a line rate, with every assumption as a number.

Payload alone fills the line (headers and acknowledgements are left out, so that a real line
carries somewhat fewer connections); the flows that are open at once are arrivals x time open
(Little's law); a flow that closed is kept in TIME_WAIT by the side that closed first, 60 s in
Linux (TCP_TIMEWAIT_LEN, include/net/tcp.h), unless net.ipv4.tcp_max_tw_buckets caps their number.
"""

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.summary import ServerResult

LINE_BITS_PER_S = 100e9
# The TRex comparison's own: 12,000 active flows at 20,000 new ones per second.
FLOW_OPEN_S = 0.6
TIME_WAIT_S = 60.0
TIME_WAIT = "time-wait"


class AtLineRate(BaseModel):
    """Memory of one system's flows in one state; bytes in all is flows x slope."""

    model_config = ConfigDict(frozen=True)

    server: str
    state: str
    connections_per_s: float
    flows: float
    bytes_per_flow: float

    @property
    def total_bytes(self) -> float:
        """All flows' memory."""
        return self.flows * self.bytes_per_flow


def at_line_rate(
    server: ServerResult,
    bits_per_s: float = LINE_BITS_PER_S,
    open_s: float = FLOW_OPEN_S,
    time_wait_s: float = TIME_WAIT_S,
) -> list[AtLineRate]:
    """A line for open flows, and one for those in TIME_WAIT where their slope was measured; none
    where the slope or the response's length is unknown.
    """
    if not server.response_bytes:
        return []
    rate = bits_per_s / 8 / server.response_bytes
    states = (
        ("open", server.memory, open_s),
        (TIME_WAIT, server.states.get(TIME_WAIT), time_wait_s),
    )
    return [
        AtLineRate(
            server=server.name,
            state=state,
            connections_per_s=rate,
            flows=rate * seconds,
            bytes_per_flow=memory.total.median,
        )
        for state, memory, seconds in states
        if memory and memory.total.median is not None
    ]
