"""What is asked of a load, of whatever kind, and the answer of one that has nothing to say.

A kind of load is one dataclass in a file of its own here, derived from `Load`. What was asked for
is given when a load is made. What is read is None, or empty, until the trial has come that far: a
trial that is cut short keeps what it had.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal

from stackcost.contracts.counts import (
    Direction,
    FramesPassed,
    GeneratorShare,
    Histograms,
    Limits,
    Schedule,
    Second,
    StackCheck,
    StoredData,
)
from stackcost.contracts.http import HttpCounts, HttpSettings
from stackcost.contracts.network import NetworkCounts
from stackcost.contracts.tls import TlsCounts

# What is looked for in the trials of a kind; analysis/trial/flags.py has the rule of each.
Failure = Literal[
    "connections failed", "connections missing", "requests failed", "rate missed", "flows not held"
]
Flag = Literal["disturbed", "suspended", "readings", "unsteady", "closed loop"]

ATTEMPTED, CLOSED = "tcps_connattempt", "tcps_closed"
TLS_FAILED = "tls_failed"  # no counter of TRex's: the engine's RPC stackcost_get_tls, "failed"
# Of CLOSED: tcp_drop() of BSD stacks counts every abort in one of the first two; the third are
# flows the generator cut because its test ended; the last were established and closed for TCP.
NOT_COMPLETED = ("tcps_drops", "tcps_conndrops", "tcps_testdrops", TLS_FAILED)
# Those beyond them never became flows.
FAILED = (*NOT_COMPLETED, "err_c_nf_throttled", "err_c_tuple_err", "err_no_memory")
RETRANSMITTED = ("tcps_sndrexmitpack", "tcps_rexmttimeo_syn")


def completed_of(counted: Callable[[str], float]) -> float:
    """Connections that were opened, served and closed. `counted`: the clients' counter of a name.

    One that failed is not completed, in a trial, a window or a second.
    """
    return counted(CLOSED) - sum(map(counted, NOT_COMPLETED))


class Load(StoredData):
    """One load on a system. A kind has a field for what it asks for and reads; of the rest this
    class has the answer. A field without a default is written `= field()` in a kind, because it
    would take the default of here.

    `unit`: what is counted, and what a cost is of. `main_phase`: its figures are taken from there.
    `failures`, `flags`: what is looked for in its trials, in this order. The fields are explained
    in the kinds that have them. Counters are the generator's, under TRex's names, and of the whole
    trial.
    """

    unit: ClassVar[Literal["connection", "request"]] = "connection"
    main_phase: ClassVar[Literal["sustain", "hold"]] = "sustain"
    failures: ClassVar[tuple[Failure, ...]] = ()
    flags: ClassVar[tuple[Flag, ...]] = ()

    kind: str = ""
    test: str = ""
    state: str = ""
    open_flows: int | None = None
    held_flows: float | None = None
    connections: int | None = None
    client: Mapping[str, float] = MappingProxyType({})
    schedule: Schedule | None = None
    cut_flows: int | None = None
    frames: dict[Direction, FramesPassed] | None = None
    limits: Limits | None = None
    overrun_s: float | None = None
    generators: Sequence[GeneratorShare] = ()
    tls: TlsCounts | None = None
    network: NetworkCounts | None = None
    latency: Histograms | None = None
    seconds: Sequence[Second] = ()
    begun: int | None = None
    server_requests: int | None = None
    statuses: Mapping[str, int] | None = None
    counted: HttpCounts | None = None
    counted_beside: HttpCounts | None = None
    processes: Sequence[int] = ()
    others: Sequence[int] = ()
    ended_early: bool = False
    stopped_s: float | None = None
    waited_s: float | None = None
    stack_check: StackCheck | None = None
    answered: int | None = None

    @property
    def traffic(self) -> "Load":
        """What is put on the system; of a step of a search, what it offers."""
        return self

    @property
    def rate(self) -> float:
        """Connections/s, of HTTP clients requests/s; 0 where no rate is offered."""
        return 0.0

    @property
    def identity(self) -> tuple[object, ...]:
        """What was asked for: two loads of a plan with the same are the same."""
        return self.kind, self.rate

    @property
    def holds(self) -> bool:
        """Whether flows are held open, and no rate is offered."""
        return self.main_phase == "hold"

    @property
    def http_settings(self) -> HttpSettings | None:
        """What HTTP clients were asked for; None of other loads, and where it is not stored."""
        return None

    @property
    def cores_shared(self) -> bool:
        """Whether HTTP clients ran on cores of the server's."""
        return self.http_settings is not None and self.http_settings.cores_shared

    @property
    def idle(self) -> bool:
        """Whether no connection was opened, so that no counter of a stack could grow."""
        return False

    def counter(self, name: str) -> int:
        """A counter of the clients. TRex may leave out counters that stayed at zero."""
        if name == TLS_FAILED:
            return self.tls.failed if self.tls else 0
        return int(self.client.get(name, 0))

    @property
    def failed(self) -> int:
        """Connections (of HTTP clients: requests) that did not complete."""
        return sum(map(self.counter, FAILED))

    @property
    def completed(self) -> int:
        """Connections (of HTTP clients: requests) that completed: `completed_of` all counters."""
        return int(completed_of(self.counter))

    @property
    def received_bytes(self) -> int:
        """Payload that a profile's clients received; with TLS what was decrypted."""
        return self.tls.received_bytes if self.tls else self.counter("tcps_rcvbyte")

    @property
    def retransmitted(self) -> int:
        """Segments that the generator sent again."""
        return sum(map(self.counter, RETRANSMITTED))

    @property
    def unexpectedly_retransmitted(self) -> int:
        """Segments sent again that no network of the experiment is the reason of."""
        expected = self.network is not None and self.network.asked.sends_again
        return 0 if expected else self.retransmitted
