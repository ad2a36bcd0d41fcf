"""What an experiment may say of a load of ASTF profiles: connections/s, and flows held open."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator, model_validator

from stackcost.contracts.load import FlowState
from stackcost.harness.experiment.entries import Once
from stackcost.harness.experiment.section import Rate, Seconds, Section

Share = Annotated[float, Field(gt=0, lt=1)]


class LoadPart(Section):
    """Connections per second: every level is held once per server in every round.

    Either rates (`offered_cps`), or shares of what the slowest system holds (`offered_shares`),
    which a short search finds before the first round.
    """

    profile: Path = Field(
        description="ASTF profile of one connection: your file, or the suite's by name"
    )
    offered_cps: list[Rate] = Field(default=[], description="rates in connections per second")
    offered_shares: list[Share] = Field(
        default=[], description="rates as shares of what the slowest system holds"
    )
    warm_up_s: Seconds = Field(
        description="shortest warm-up; above the client's TIME_WAIT, which takes half a second"
    )
    sustain_s: Seconds = Field(description="length of the window that is measured")
    drain_s: Seconds = Field(description="longest wait for the last connections to end")

    @model_validator(mode="after")
    def _has_some(self) -> "LoadPart":
        if self.offered_cps and self.offered_shares:
            raise ValueError("it has offered_cps and offered_shares: empty one of them, as []")
        if self.profile != NO_PROFILE and not (self.offered_cps or self.offered_shares):
            raise ValueError("a profile needs a rate at least: offered_cps, or offered_shares")
        return self

    def rates_of(self, ceiling: float) -> list[float]:
        """The rates that its shares are of what the slowest system holds, to two digits."""
        return [float(f"{share * ceiling:.2g}") for share in self.offered_shares]


class MemoryPart(Section):
    """Connections held open: memory is read at every count, and its slope is the cost of one."""

    profile: Path = Field(
        description="ASTF profile that holds connections open: your file, or the suite's by name"
    )
    open_flows: list[Annotated[int, Field(ge=0)]] = Field(
        description="how many connections are held open; two counts or more, ascending"
    )
    open_cps: Rate = Field(description="how many connections are opened per second")
    settle_s: Seconds = Field(description="wait after the last flow opened, before reading")
    read_s: Seconds = Field(description="span over which levels are read; their median counts")
    states: Annotated[list[FlowState], Once] = Field(
        default=["established"],
        min_length=1,
        description="of the flows; all but the first are of the kernel's stack alone",
    )

    @field_validator("open_flows")
    @classmethod
    def _ascends(cls, counts: list[int], info: ValidationInfo) -> list[int]:
        if len(counts) < 2 and info.data.get("profile") != NO_PROFILE:
            raise ValueError("a line needs two counts at least")
        if counts != sorted(set(counts)):
            raise ValueError("the counts must ascend, each once: a server keeps what it once took")
        return counts


NO_PROFILE = Path()
NO_LOAD = LoadPart(profile=NO_PROFILE, warm_up_s=1, sustain_s=1, drain_s=1)
NO_MEMORY = MemoryPart(profile=NO_PROFILE, open_flows=[], open_cps=1, settle_s=1, read_s=1)
