"""What the cost of a connection comes to at a line rate, with every assumption as a number.

CPU: a straight line through the busy cores over the completed rate, in each round by itself. Its
slope is the cost of one more connection. What a server's cores do without any connection is left
out, and so are loads past the ceiling.

Payload alone fills the line (headers and acknowledgements are left out, so that a real line
carries somewhat fewer connections); the flows that are open at once are arrivals x time open
(Little's law); a flow that closed is kept in TIME_WAIT by the side that closed first, 60 s in
Linux (TCP_TIMEWAIT_LEN, include/net/tcp.h), unless net.ipv4.tcp_max_tw_buckets caps their number.
"""

from statistics import median

import numpy as np
from pydantic import BaseModel, ConfigDict

from stackcost.analysis.spread import Spread, spread
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


def at_line_rate(server: ServerResult, bits_per_s: float = LINE_BITS_PER_S) -> list[AtLineRate]:
    """A line for open flows, and one for those in TIME_WAIT where their slope was measured; none
    where the slope or the response's length is unknown.
    """
    if not server.response_bytes:
        return []
    rate = bits_per_s / 8 / server.response_bytes
    states = (
        ("open", server.memory, FLOW_OPEN_S),
        (TIME_WAIT, server.memories.get(TIME_WAIT), TIME_WAIT_S),
    )
    return [
        AtLineRate(
            server=server.name,
            state=state,
            connections_per_s=rate,
            flows=rate * seconds,
            bytes_per_flow=memory["memory.total"].median,
        )
        for state, memory, seconds in states
        if memory and memory["memory.total"].median is not None
    ]


class CoresAtLineRate(BaseModel):
    """One system's cores for a line of payload, with the spread over the rounds.

    `connections_per_core`: connections/s of one core that is busy all the time. `bits_per_core`:
    their payload, Gb/s of 10^9 bits; only responses are counted. `packets_per_core`: millions per
    second, both ways. `cores`: for the whole line.
    """

    model_config = ConfigDict(frozen=True)

    server: str
    connections_per_core: Spread
    bits_per_core: Spread
    packets_per_core: Spread
    cores: Spread


def cores_at_line_rate(
    server: ServerResult, bits_per_s: float = LINE_BITS_PER_S
) -> CoresAtLineRate:
    """The cores that a line of payload needs; unknown with the reason below two loads a round."""
    slopes = {number: slope for number, slope in _slopes(server).items() if slope > 0}
    rounds, length = list(slopes), server.response_bytes
    reason = (
        "a line needs the cost at two loads of the same round, below the ceiling"
        if length
        else "the response's length is not known, or is not the same in all trials"
    )
    each = [packets for level in server.levels if (packets := level["packets"].median)]
    packets = median(each) if each else None
    bits = [8 * length / slope for slope in slopes.values()] if length else []

    def over(values: list[float], unit: str) -> Spread:
        return spread(values, unit, reason, rounds)

    return CoresAtLineRate(
        server=server.name,
        connections_per_core=over([1 / slope for slope in slopes.values()], "connections/s"),
        bits_per_core=over([each / 1e9 for each in bits], "Gb/s"),
        packets_per_core=spread(
            [packets / slope / 1e6 for slope in slopes.values()] if packets else [],
            "10^6/s",
            next((level["packets"].reason for level in server.levels), reason),
            rounds if packets else [],
        ),
        cores=over([bits_per_s / each for each in bits], "cores"),
    )


def _slopes(server: ServerResult) -> dict[int, float]:
    """By round: core seconds that one more connection takes."""
    points: dict[int, list[tuple[float, float]]] = {}
    for level in server.levels:
        if level.past_ceiling or level.test:
            continue
        rates = dict(
            zip(level["completed_cps"].rounds, level["completed_cps"].values, strict=False)
        )
        total = level.cost
        for number, cost in zip(total.rounds, total.values, strict=False):
            if rate := rates.get(number):
                points.setdefault(number, []).append((rate, cost * rate / 1e6))
    lines = {number: np.array(each) for number, each in sorted(points.items())}
    return {
        number: float(np.polyfit(line[:, 0], line[:, 1], 1)[0])
        for number, line in lines.items()
        if len(np.unique(line[:, 0])) > 1
    }
