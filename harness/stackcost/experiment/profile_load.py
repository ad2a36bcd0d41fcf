"""The sections `load` and `memory` of an experiment: connections/s, and open flows."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator, model_validator

from stackcost.contracts.load import FlowState
from stackcost.contracts.tls import TlsSettings
from stackcost.experiment.entries import Once, OwnFile
from stackcost.experiment.section import Rate, Seconds, Section

Share = Annotated[float, Field(gt=0, lt=1)]


class LoadSection(Section):
    """Loads are rates (`offered_cps`), or shares of the slowest system's ceiling.

    A short search finds that ceiling before the first round.
    """

    profile: Path = Field(
        description="ASTF profile of one connection: your file, or a built-in one's name"
    )
    offered_cps: Annotated[list[Rate], Once] = Field(
        default=[], description="rates in connections per second"
    )
    offered_shares: Annotated[list[Share], Once] = Field(
        default=[], description="rates as shares of that ceiling"
    )
    warm_up_s: Seconds = Field(
        description="shortest warm-up; above the client's TIME_WAIT of 0.5 s"
    )
    sustain_s: Seconds = Field(description="length of the measured window")
    drain_s: Seconds = Field(description="longest wait for the last connections")
    offered_by: OwnFile | None = Field(
        default=None,
        description="Python file of your own kind of load, relative to this file",
    )
    tls: TlsSettings | None = Field(
        default=None,
        description="TLS of all connections, those of memory too",
    )
    settings: dict[str, float] = Field(default={}, description="settings of your kind of load")

    @model_validator(mode="after")
    def _has_some(self) -> "LoadSection":
        if self.offered_cps and self.offered_shares:
            raise ValueError("it has both offered_cps and offered_shares; set one of them to []")
        if self.settings and not self.offered_by:
            raise ValueError("settings are of a kind of load of your own: offered_by")
        if self.profile != NO_PROFILE and not (self.offered_cps or self.offered_shares):
            raise ValueError("a profile needs at least one rate: offered_cps or offered_shares")
        return self

    def rates_of(self, ceiling: float) -> list[float]:
        """The shares as rates, with two digits, or as many as make them differ.

        `ceiling`: of the slowest system.
        """
        for digits in range(2, 17):
            rates = [float(f"{share * ceiling:.{digits}g}") for share in self.offered_shares]
            if len(set(rates)) == len(rates):
                break
        return rates


class MemorySection(Section):
    """Memory is read at each number of open flows; the slope is the cost of a flow."""

    profile: Path = Field(
        description="ASTF profile that holds connections open: your file, or a built-in one's name"
    )
    open_flows: list[Annotated[int, Field(ge=0, le=1_000_000_000)]] = Field(
        description="numbers of open connections, two or more, ascending"
    )
    open_cps: Rate = Field(
        description="connections opened per second; at most half of the ceiling that "
        "load.offered_shares finds"
    )
    settle_s: Seconds = Field(description="wait between the last new flow and the reading")
    read_s: Seconds = Field(description="duration of the reading, whose median counts")
    states: Annotated[list[FlowState], Once] = Field(
        default=["established"],
        min_length=1,
        description="all but established need the kernel's stack",
    )

    @field_validator("open_flows")
    @classmethod
    def _ascends(cls, counts: list[int], info: ValidationInfo) -> list[int]:
        if len(counts) < 2 and info.data.get("profile") != NO_PROFILE:
            raise ValueError("a slope needs at least two numbers of flows")
        if counts != sorted(set(counts)):
            raise ValueError("the numbers must be ascending and different")
        return counts

    def in_order(self, state: FlowState) -> list[int]:
        """The numbers of flows in the order in which they are held: up, and down to the first.

        Every second one is held on the way down, so that what grows with time is not taken for
        memory of flows. Flows in TIME_WAIT only get more, as they last a minute.
        """
        counts = self.open_flows
        if state == "time-wait" or len(counts) < 2:
            return counts
        return sorted({counts[0], *counts[::-2]}) + counts[-2:0:-2] + [counts[0]]


NO_PROFILE = Path()
NO_LOAD = LoadSection(profile=NO_PROFILE, warm_up_s=1, sustain_s=1, drain_s=1)
NO_MEMORY = MemorySection(profile=NO_PROFILE, open_flows=[], open_cps=1, settle_s=1, read_s=1)
