"""A load of a kind that the suite does not have."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from stackcost.contracts.counts import Histograms
from stackcost.contracts.load.base import Failure, Flag
from stackcost.contracts.load.profile import ProfileTraffic


@dataclass(kw_only=True)
class OwnLoad(ProfileTraffic):
    """Connections in a way that only the file of its kind knows.

    `name`: of the kind. `offered_cps`: connections/s, on average; the rate need not be steady.
    `settings`: what else was asked for. `latency`, `server_requests`: as of `ConstantLoad`.
    """

    failures: ClassVar[tuple[Failure, ...]] = ("connections failed",)
    flags: ClassVar[tuple[Flag, ...]] = ("disturbed", "readings")

    kind: Literal["own"] = "own"
    name: str
    offered_cps: float
    settings: dict[str, float] = field(default_factory=dict)
    latency: Histograms | None = None
    server_requests: int | None = None

    @property
    def rate(self) -> float:
        """Connections/s, on average."""
        return self.offered_cps

    @property
    def identity(self) -> tuple[object, ...]:
        """The kind, its mean rate and its settings."""
        return self.kind, self.name, self.rate, tuple(sorted(self.settings.items()))
