"""The section `matrix` of an experiment: the settings that it varies."""

from typing import Annotated

from pydantic import ConfigDict, Field

from stackcost.bed.tuning import tier_of
from stackcost.contracts.http import Certificate
from stackcost.contracts.network import Megabits, Milliseconds, NetworkSettings, Probability
from stackcost.contracts.system import label
from stackcost.contracts.tls import VariedTls
from stackcost.experiment.entries import KernelName, Once, StackName, TierName
from stackcost.experiment.section import Section

Workers = Annotated[int, Field(ge=1, le=1024)]
Rules = Annotated[int, Field(ge=0, le=100_000)]
ResponseBytes = Annotated[int, Field(ge=1, le=100_000_000)]


class Matrix(Section):
    """Every server is measured with every combination of these, which override what they vary.

    Stacks, tiers, cores and workers are those of servers on the kernel's stack or its replacement.
    """

    model_config = Section.model_config | ConfigDict(serialize_by_alias=True)

    stack: Annotated[list[StackName], Once] = Field(default=[], description="network stacks")
    tuning: Annotated[list[TierName], Once] = Field(default=[], description="tuning tiers")
    cores: Annotated[list[Workers], Once] = Field(
        default=[],
        description="numbers of server cores; auto: 1, 2, 4 ... all; [3, 6, auto]: those of the "
        "numbers that there are cores for, and all",
    )
    workers: Annotated[list[Workers], Once] = Field(
        default=[],
        description="numbers of workers; auto: as of cores",
    )
    reuseport: Annotated[list[bool], Once] = Field(default=[], description="of nginx/kernel")
    certificate: Annotated[list[Certificate], Once] = Field(
        default=[], description="keys of the server's certificate"
    )
    response_bytes: Annotated[list[ResponseBytes], Once] = Field(
        default=[], description="response lengths"
    )
    rules: Annotated[list[Rules], Once] = Field(
        default=[],
        description="lengths of lists of rules, of devices with one",
    )
    tls: Annotated[list[VariedTls], Once] = Field(
        default=[],
        description="TLS of profiles: none, a full handshake of each connection, or resumed ones; "
        "other settings are those of load.tls",
    )
    kernel: Annotated[list[KernelName], Once] = Field(
        default=[], description="kernels of a counted run; overrides counted.kernel"
    )
    network_loss: Annotated[list[Probability], Once] = Field(
        default=[], alias="network.loss", description="overrides network.loss"
    )
    network_delay_ms: Annotated[list[Milliseconds], Once] = Field(
        default=[], alias="network.delay_ms", description="overrides network.delay_ms"
    )
    network_jitter_ms: Annotated[list[Milliseconds], Once] = Field(
        default=[], alias="network.jitter_ms", description="overrides network.jitter_ms"
    )
    network_reorder: Annotated[list[Probability], Once] = Field(
        default=[], alias="network.reorder", description="overrides network.reorder"
    )
    network_duplicate: Annotated[list[Probability], Once] = Field(
        default=[], alias="network.duplicate", description="overrides network.duplicate"
    )
    network_rate_mbit: Annotated[list[Megabits], Once] = Field(
        default=[], alias="network.rate_mbit", description="overrides network.rate_mbit"
    )

    @property
    def network(self) -> dict[str, list[float]]:
        """The values of each setting of the network that varies."""
        every = {name: getattr(self, f"network_{name}") for name in NetworkSettings.model_fields}
        return {name: values for name, values in every.items() if values}

    def parts(self) -> set[str]:
        """Every part that the matrix can add to a server's name."""
        varied = self.model_dump(exclude={"stack"})
        varied["tuning"] = [tier_of(tuning).name for tuning in self.tuning]
        return {label(setting, each) for setting, values in varied.items() for each in values}
