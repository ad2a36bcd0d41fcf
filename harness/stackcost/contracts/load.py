"""The kinds of load that a trial puts on a system, each with what was asked for and what was read.

What was asked for is given when a load is made. What is read is None, or empty, until the trial has
come that far: a trial that is cut short keeps what it had.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from stackcost.contracts.counts import (
    Carrier,
    Direction,
    FramesPassed,
    GeneratorShare,
    Histograms,
    Limits,
    Schedule,
    StoredPart,
)
from stackcost.contracts.event_settings import EventSettings, Happening
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.window import Window

FlowState = Literal["established", "tracked", "half-open", "time-wait"]
ESTABLISHED: FlowState = "established"
CeilingKind = Literal["connections", "flows", "requests"]  # what a search finds the ceiling of
SecondsByMode: TypeAlias = dict[Literal["user", "system"], float]


def rate_words(rate: float) -> str:
    """An offered rate as text. Two digits of a small one: 0.01/s, which is idle, is not 0."""
    return f"{rate:,.0f}" if rate >= 10 or rate == int(rate) else f"{rate:.2g}"


@dataclass(kw_only=True)
class ProfileTraffic(StoredPart):
    """What is read of every load that a generator of ASTF profiles offers, over the whole trial.

    `client`: counters of the generator's clients under TRex's names (its get_counter_desc), in
    flows, segments or bytes; which there are is up to the generator. `schedule`: None: it does not
    tell. `cut_flows`: flows that had not ended when the drain was over, and were cut. `frames`: by
    direction; None: no device stands between two ports, or its links ended with it. `limits`: read
    under load, at the end of the sustain window, of the hold, of an event, or of the highest step;
    None: not read, as of an event that breaks the device. `overrun_s`: seconds from the end of the
    load, or of the hold, to the end of the last reading that was to be made before it: the last
    edge, what carried the connections, limits; 0: all in time; None: not told. `generators`: the
    part of each of several; empty of a single one. `client` and `schedule` are then their sums.
    """

    client: dict[str, float] = field(default_factory=dict)
    schedule: Schedule | None = None
    cut_flows: int | None = None
    frames: dict[Direction, FramesPassed] | None = None
    limits: Limits | None = None
    overrun_s: float | None = None
    generators: list[GeneratorShare] = field(default_factory=list)


@dataclass(kw_only=True)
class ConstantLoad(ProfileTraffic):
    """New connections at a constant rate: `offered_cps`, connections/s, for warm-up and sustain.

    `requests_per_connection`: made one after the other on each. `latency`: of the connections that
    ended in the sustain window; None: the generator does not tell. `begun`: connections that began
    between the two readings of these times; None of older trials. `server_requests`: requests of
    the whole trial by the server's own count; None: it keeps none.
    """

    kind: Literal["load"] = "load"
    offered_cps: float
    requests_per_connection: int = 1
    latency: Histograms | None = None
    begun: int | None = None
    server_requests: int | None = None


@dataclass(kw_only=True)
class HeldFlows(ProfileTraffic):
    """`open_flows` flows that are opened, held in a `state`, and closed.

    `held_flows`: how many there were at the end of the hold, by the generator's count, or by the
    kernel's for states that no server holds.
    """

    kind: Literal["hold"] = "hold"
    open_flows: int
    state: FlowState = ESTABLISHED
    held_flows: float | None = None


@dataclass
class HttpSettings(StoredPart):
    """What HTTP clients were asked for. `connections`: of each of the `processes`, at once.

    `program`: its name. `body_bytes`: bytes of each response's body; of several, each connection
    asks in turn. `kept`: whether connections stay open from one request to the next. `measures`:
    which figure is the answer. `cores_shared`: clients ran on cores of the server's. `version`: of
    HTTP. `streams`: requests that a connection of HTTP/2 or HTTP/3 has under way at once.
    `resumed`: whether a new connection continues a TLS session of an earlier one.
    """

    program: str
    processes: int
    connections: int
    body_bytes: list[int]
    kept: bool
    tls: bool
    measures: Literal["connections", "requests", "throughput", "latency"]
    cores_shared: bool = False
    version: HttpVersion = "1.1"
    streams: int = 1
    resumed: bool = False


@dataclass
class HttpCounts(StoredPart):
    """What HTTP clients counted over all their time, summed over the processes.

    `requests`: answered well; `rate`: of these per second. `bits_per_second`: received, headers
    included. `failed`: requests, by the cause that the program gives. `unsent`: of a constant rate,
    requests that were due and not sent. `latency_means`: in words, what the program's times begin
    and end with. `cpu_seconds`: "user" and "system" time of the processes, as the kernel accounts
    it.
    """

    requests: int
    rate: float
    bits_per_second: float
    failed: dict[str, int]
    unsent: int
    latency_means: str = ""
    cpu_seconds: SecondsByMode = field(default_factory=dict)


@dataclass(kw_only=True)
class HttpClients(StoredPart):
    """HTTP clients: the `test` of the experiment, at `offered_rps` requests/s of all clients.

    `offered_rps` is None of a closed loop, in which each connection asks again once it is answered.
    `settings`, `counted`: see there. `latency`: of all requests after the warm-up. `processes`:
    process ids of the clients. `others`: where cores are shared, process ids of all that ran in the
    bed's namespaces, and of the harness. `ended_early`: a client's time was over before the last
    reading of the sustain window. `server_requests`: as of `ConstantLoad`. `limits`: as of
    `ProfileTraffic`. `carrier`: of the clients' connections. `answered`: of the connections that
    stay open, those that had received anything when the sustain window ended; None where that was
    not read.
    """

    kind: Literal["http"] = "http"
    test: str
    offered_rps: float | None = None
    settings: HttpSettings | None = None
    counted: HttpCounts | None = None
    latency: Histograms | None = None
    processes: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    ended_early: bool = False
    server_requests: int | None = None
    limits: Limits | None = None
    carrier: Carrier | None = None
    answered: int | None = None


@dataclass
class EventTimes(StoredPart):
    """How an event went. `began`: when its traffic started, CLOCK_MONOTONIC seconds.

    `answer_bytes`: of each answer on an established connection. `dead_timeout_s`: seconds for which
    the device keeps a closed or unanswered connection in its table; None: it has none. `cut`: when
    the device's link was cut or the device removed, CLOCK_MONOTONIC seconds; None: it was not.
    """

    began: float
    answer_bytes: int
    dead_timeout_s: int | None
    cut: float | None = None


@dataclass(kw_only=True)
class DeviceEvent(ProfileTraffic):
    """Something that happens to a device under traffic. `course`: None until it has begun."""

    kind: Literal["event"] = "event"
    event: Happening
    settings: EventSettings
    course: EventTimes | None = None


@dataclass
class MixStep(StoredPart):
    """One load of mixed traffic, in flows/s, and the window in which it was watched."""

    flows_per_second: float
    window: Window


@dataclass(kw_only=True)
class MixedLoad(ProfileTraffic):
    """Mixed traffic in rising steps, and last at half of the highest whole load.

    `steps`: those that came to their end, in order.
    """

    kind: Literal["mix"] = "mix"
    steps: list[MixStep] = field(default_factory=list)


@dataclass
class Loss(StoredPart):
    """What a step of a search was to offer and lost of it, in the unit of what is searched for.

    `lost_by`: by cause; docs/metrics.md defines it. A connection may be in two causes, so the sum
    may be larger than `lost`. `disturbed`: why the trial was worth a repeat, as judged when it was
    over; what a search did next rests on it.
    """

    intended: int
    lost: int
    lost_by: dict[str, int]
    disturbed: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class SearchStep(StoredPart):
    """A trial of a search for the ceiling `of` something, at one `load`.

    `load`: connections/s, requests/s or open flows. `offered`: the same as a load of its own, with
    what was read. `duration_s`: seconds for which it was offered, or flows were held. `repeat`: 0,
    or which repeat of a disturbed trial. `twin`: whether it was offered to the server's twin, after
    the search. `loss`: None: it was cut short.

    ValueError when `offered` is not what a search of `of` offers.
    """

    kind: Literal["search"] = "search"
    of: CeilingKind
    load: float
    duration_s: float
    offered: Annotated[ConstantLoad | HeldFlows, Field(discriminator="kind")]
    repeat: int = 0
    twin: bool = False
    loss: Loss | None = None

    def __post_init__(self) -> None:
        if (self.of == "flows") is not isinstance(self.offered, HeldFlows):
            raise ValueError(f"a search of {self.of} does not offer a {self.offered.kind}")


Traffic: TypeAlias = ConstantLoad | HeldFlows | HttpClients | DeviceEvent | MixedLoad
Load: TypeAlias = Annotated[Traffic | SearchStep, Field(discriminator="kind")]
