"""Flows that are held open."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from stackcost.contracts.load.base import Failure, Flag
from stackcost.contracts.load.profile import ProfileTraffic

FlowState = Literal["established", "tracked", "half-open", "time-wait"]
ESTABLISHED: FlowState = "established"


@dataclass(kw_only=True)
class HeldFlows(ProfileTraffic):
    """`open_flows` flows that are opened, held in a `state`, and closed.

    `held_flows`: how many there were at the end of the hold, by the generator's count, or by the
    kernel's for states that no server holds. `open_cps`: flows opened in a second. `not_opened`:
    why not all of them opened; no memory was read then.
    """

    main_phase: ClassVar[Literal["sustain", "hold"]] = "hold"
    failures: ClassVar[tuple[Failure, ...]] = ("connections failed", "flows not held")
    flags: ClassVar[tuple[Flag, ...]] = ("disturbed", "readings")

    kind: Literal["hold"] = "hold"
    open_flows: int = field()
    state: FlowState = ESTABLISHED
    held_flows: float | None = None
    open_cps: float | None = None
    not_opened: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """How many flows, and their state."""
        return self.kind, self.open_flows, self.state

    @property
    def idle(self) -> bool:
        """A hold of no flows shows the memory without any."""
        return not self.open_flows
