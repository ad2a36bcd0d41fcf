"""Connections whose instructions are counted."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from stackcost.contracts.load.base import Failure, Flag
from stackcost.contracts.load.profile import ProfileTraffic


@dataclass(kw_only=True)
class CountedLoad(ProfileTraffic):
    """`connections` whole ones, opened at `offered_cps`, connections/s, by the guest's clock.

    None is open when counting begins, or when it ends. The counters of the clients are theirs.
    """

    failures: ClassVar[tuple[Failure, ...]] = ("connections failed", "connections missing")
    flags: ClassVar[tuple[Flag, ...]] = ("readings",)

    kind: Literal["counted"] = "counted"
    offered_cps: float = field()
    connections: int = field()

    @property
    def rate(self) -> float:
        """Connections/s of the guest's clock."""
        return self.offered_cps

    @property
    def identity(self) -> tuple[object, ...]:
        """How many, and at which rate."""
        return self.kind, self.connections, self.offered_cps
