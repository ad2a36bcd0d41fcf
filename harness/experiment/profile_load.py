"""What an experiment may say of a load of ASTF profiles: connections/s, and flows held open."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from harness.experiment.entries import Once
from harness.experiment.section import Rate, Seconds, Section

FlowState = Literal["established", "tracked", "half-open", "time-wait"]


class LoadPart(Section):
    """Connections per second: every level is held once per server in every round."""

    profile: Path
    offered_cps: list[Rate]
    warm_up_s: Seconds
    sustain_s: Seconds
    drain_s: Seconds = Field(description="longest wait for the last connections to end")

    @field_validator("offered_cps")
    @classmethod
    def _has_some(cls, rates: list[float], info: ValidationInfo) -> list[float]:
        if not rates and info.data.get("profile") != NO_PROFILE:
            raise ValueError("a profile needs a rate at least")
        return rates


class MemoryPart(Section):
    """Connections held open: memory is read at every count, and its slope is the cost of one."""

    profile: Path
    open_flows: list[Annotated[int, Field(ge=0)]]
    open_cps: Rate
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
NO_LOAD = LoadPart(profile=NO_PROFILE, offered_cps=[], warm_up_s=1, sustain_s=1, drain_s=1)
NO_MEMORY = MemoryPart(profile=NO_PROFILE, open_flows=[], open_cps=1, settle_s=1, read_s=1)
