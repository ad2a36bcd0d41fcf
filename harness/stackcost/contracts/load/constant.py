"""New connections at a constant rate."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from stackcost.contracts.counts import Histograms, Second
from stackcost.contracts.load.base import Failure, Flag
from stackcost.contracts.load.profile import ProfileTraffic


@dataclass(kw_only=True)
class ConstantLoad(ProfileTraffic):
    """New connections at a constant rate: `offered_cps`, connections/s, for warm-up and sustain.

    `requests_per_connection`: made one after the other on each. `latency`: of the connections that
    ended in the sustain window; None: the generator does not tell. `seconds`: the same by second,
    between readings. `begun`: connections that began between the two readings of these times; None
    where `latency` is. `server_requests`: requests of
    the whole trial by the server's own count; None: it keeps none. `statuses`: of HTTP, of some
    requests made when the load was over; "none": no answer. None where nothing can ask the server.
    """

    failures: ClassVar[tuple[Failure, ...]] = ("connections failed", "rate missed")
    flags: ClassVar[tuple[Flag, ...]] = ("disturbed", "readings", "unsteady")

    kind: Literal["load"] = "load"
    offered_cps: float = field()
    requests_per_connection: int = 1
    latency: Histograms | None = None
    seconds: list[Second] = field(default_factory=list)
    begun: int | None = None
    server_requests: int | None = None
    statuses: dict[str, int] | None = None

    @property
    def rate(self) -> float:
        """Connections/s."""
        return self.offered_cps

    @property
    def idle(self) -> bool:
        """A rate may be so low that no connection fell into the trial."""
        return bool(self.client) and not self.counter("tcps_connattempt")
