"""Requests of HTTP clients."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from stackcost.contracts.counts import Histograms, Limits, StackCheck
from stackcost.contracts.http import HttpCounts, HttpSettings
from stackcost.contracts.load.base import Failure, Flag, Load


@dataclass(kw_only=True)
class HttpClients(Load):
    """HTTP clients: the `test` of the experiment, at `offered_rps` requests/s of all clients.

    `offered_rps` is None of a closed loop, in which each connection asks again once it is answered.
    `settings`, `counted`: see there. `latency`: of all requests after the warm-up. `processes`:
    process ids of the clients. `others`: where cores are shared, process ids of all that ran in the
    bed's namespaces, and of the harness. `ended_early`: a client's time was over before the last
    reading of the sustain window. `server_requests`: as of `ConstantLoad`. `limits`: as of
    `ProfileTraffic`. `stopped_s`, `waited_s`: seconds of the sustain window in which a client was
    stopped, or waited for its core, of the one that did so longest; None where that was not read.
    `stack_check`: of the clients' connections. `answered`: of the connections that stay open, those
    that had received anything when the sustain window ended; None where that was not read.
    `counted_beside`: by the clients of `settings.beside`, which are not in `counted` and `latency`.
    """

    unit: ClassVar[Literal["connection", "request"]] = "request"
    failures: ClassVar[tuple[Failure, ...]] = ("requests failed",)
    flags: ClassVar[tuple[Flag, ...]] = ("disturbed", "closed loop")

    kind: Literal["http"] = "http"
    test: str = field()
    offered_rps: float | None = None
    settings: HttpSettings | None = None
    counted: HttpCounts | None = None
    counted_beside: HttpCounts | None = None
    latency: Histograms | None = None
    processes: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    ended_early: bool = False
    stopped_s: float | None = None
    waited_s: float | None = None
    server_requests: int | None = None
    limits: Limits | None = None
    stack_check: StackCheck | None = None
    answered: int | None = None

    @property
    def rate(self) -> float:
        """Requests/s; 0 of a closed loop."""
        return self.offered_rps or 0.0

    @property
    def identity(self) -> tuple[object, ...]:
        """The test, and its rate."""
        return self.kind, self.test, self.offered_rps

    @property
    def http_settings(self) -> HttpSettings | None:
        """What the clients were asked for: `settings`."""
        return self.settings

    @property
    def failed(self) -> int:
        """Requests, by the clients' own count; 0 of a trial that was cut short."""
        both = filter(None, (self.counted, self.counted_beside))
        return sum(number for each in both for number in each.failed.values())

    @property
    def completed(self) -> int:
        """Requests that were answered well."""
        return self.counted.requests if self.counted else 0
