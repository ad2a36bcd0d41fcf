"""What is read of every load that a generator of ASTF profiles offers."""

from dataclasses import dataclass, field

from stackcost.contracts.counts import Direction, FramesPassed, GeneratorShare, Limits, Schedule
from stackcost.contracts.load.base import Load
from stackcost.contracts.network import NetworkCounts
from stackcost.contracts.tls import TlsCounts


@dataclass(kw_only=True)
class ProfileTraffic(Load):
    """What is read of every load that a generator of ASTF profiles offers, over the whole trial.

    `client`: counters of the generator's clients under TRex's names (its get_counter_desc), in
    flows, segments or bytes; which there are is up to the generator. `schedule`: None: it does not
    tell. `cut_flows`: flows that had not ended when the drain was over, and were cut. `frames`: by
    direction; None: no device stands between two ports, or its links ended with it. `limits`: read
    under load, at the end of the sustain window, of the hold, of an event, or of the highest step;
    None: not read, as of an event that breaks the device. `overrun_s`: seconds from the end of the
    load, or of the hold, to the end of the last reading that was to be made before it: the last
    edge, what carried the connections, limits; 0: all in time; None: not known. `generators`: the
    part of each of several; empty of a single one. `client` and `schedule` are then their sums.
    `tls`: None: the connections had none. `network`: None: there was only the bed's link.
    """

    client: dict[str, float] = field(default_factory=dict)
    schedule: Schedule | None = None
    cut_flows: int | None = None
    frames: dict[Direction, FramesPassed] | None = None
    limits: Limits | None = None
    overrun_s: float | None = None
    generators: list[GeneratorShare] = field(default_factory=list)
    tls: TlsCounts | None = None
    network: NetworkCounts | None = None
