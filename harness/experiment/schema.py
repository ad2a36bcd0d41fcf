"""What an experiment file may say: one YAML file describes one comparison.

Unknown keys are errors, so that a misspelt key never silently means its default.
"""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Seconds = Annotated[float, Field(gt=0, le=3600)]
Rate = Annotated[float, Field(gt=0)]
Core = Annotated[int, Field(ge=0)]
ServerName = Literal["nginx/kernel", "astf-peer"]


class Section(BaseModel):
    """A mapping of the file: immutable, and nothing in it that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Workload(Section):
    """What one connection does, and between which addresses; the same for every server."""

    request_bytes: int = Field(ge=18, le=1_000_000, description="whole HTTP request, in bytes")
    response_bytes: int = Field(
        ge=1, le=100_000_000, description="whole HTTP response, headers and body, in bytes"
    )
    clients: str = Field(description="client addresses, first-last")
    server: IPv4Address
    port: int = Field(ge=1, le=65535)

    @field_validator("clients")
    @classmethod
    def _is_range(cls, text: str) -> str:
        first, _, last = text.partition("-")
        if IPv4Address(first.strip()) > IPv4Address(last.strip()):
            raise ValueError("the first address of the range is above the last")
        return text

    @property
    def client_network(self) -> IPv4Network:
        """The smallest network that holds all clients, for the server's way back to them."""
        first, last = (IPv4Address(end.strip()) for end in self.clients.split("-"))
        differing = (int(first) ^ int(last)).bit_length()
        return IPv4Network((int(first) >> differing << differing, 32 - differing))


class LoadPart(Section):
    """Connections per second: every level is held once per server in every round."""

    profile: Path
    offered_cps: list[Rate] = Field(min_length=1)
    warm_up_s: Seconds
    sustain_s: Seconds
    drain_s: Seconds = Field(description="longest wait for the last connections to end")


class MemoryPart(Section):
    """Connections held open: memory is read at every count, and its slope is the cost of one."""

    profile: Path
    open_flows: list[Annotated[int, Field(ge=0)]] = Field(min_length=2)
    open_cps: Rate
    settle_s: Seconds = Field(description="wait after the last flow opened, before reading")
    read_s: Seconds = Field(description="span over which levels are read; their median counts")

    @field_validator("open_flows")
    @classmethod
    def _ascends(cls, counts: list[int]) -> list[int]:
        if counts != sorted(set(counts)):
            raise ValueError("the counts must ascend, each once: a server keeps what it once took")
        return counts


class Cores(Section):
    """Linux CPU numbers: the generator's and the harness's, and those of the server under test."""

    load: list[Core] = Field(min_length=1)
    server: list[Core] = Field(min_length=1)


class Nginx(Section):
    """Settings of nginx on the kernel's stack; what a tier sets, servers/nginx_kernel says."""

    tuning: Literal["stock", "published"]
    worker_connections: int = Field(ge=64, description="allocated at start, for each worker")


class Experiment(Section):
    """One comparison: every server meets the same load, in turn, `rounds` times.

    `baseline` is the server whose cost stands above the line of every factor, `against` below.
    """

    title: str
    servers: list[ServerName] = Field(min_length=1)
    baseline: ServerName
    against: ServerName
    rounds: int = Field(ge=1, le=100)
    cores: Cores
    nginx: Nginx
    workload: Workload
    load: LoadPart
    memory: MemoryPart

    @field_validator("servers")
    @classmethod
    def _stand_once(cls, names: list[str]) -> list[str]:
        if len(set(names)) != len(names):
            raise ValueError("a server stands twice in the list")
        return names

    @model_validator(mode="after")
    def _compares_its_own(self) -> "Experiment":
        for name in (self.baseline, self.against):
            if name not in self.servers:
                raise ValueError(f"{name!r} is compared, but is not among the servers")
        return self

    @model_validator(mode="after")
    def _fits_nginx(self) -> "Experiment":
        most = max(self.memory.open_flows)
        room = self.nginx.worker_connections * len(self.cores.server)
        if "nginx/kernel" in self.servers and most >= room:
            raise ValueError(f"{most} open flows do not fit into {room} connections of nginx")
        return self
