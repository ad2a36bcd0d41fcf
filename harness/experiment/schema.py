"""What an experiment file may say: one YAML file describes one comparison.

Unknown keys are errors, so that a misspelt key never silently means its default.
"""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from stackcost.contracts.dut_settings import DutSettings
from stackcost.contracts.stack import KERNEL
from stackcost.contracts.system_names import cores_part, length_part, workers_part
from stackcost.harness.experiment.entries import Once, ServerName, TierName
from stackcost.harness.experiment.http_schema import HttpLoad
from stackcost.harness.experiment.profile_load import NO_LOAD, NO_MEMORY, LoadPart, MemoryPart
from stackcost.harness.experiment.section import Core, Section, StackName
from stackcost.harness.experiment.shares import resolve_auto
from stackcost.harness.systems import registry
from stackcost.harness.tuning import tier_of
from stackcost.stacks import on_stack

Workers = Annotated[int, Field(ge=1, le=1024)]
TcpSettings = Literal["today", "published"]
ResponseBytes = Annotated[int, Field(ge=1, le=100_000_000)]


class Workload(Section):
    """What one connection does, and between which addresses; the same for every server.

    Of HTTP clients the addresses alone count: their tests say what is asked for.
    """

    request_bytes: int = Field(
        default=100, ge=18, le=1_000_000, description="whole HTTP request, in bytes"
    )
    response_bytes: ResponseBytes = Field(
        default=1000, description="whole HTTP response, headers and body, in bytes"
    )
    tcp: TcpSettings = Field(
        default="today",
        description="of both sides of the suite's profiles: as servers have them now (initial "
        "window 10, no delay of small segments), or as the published test bed (window 2, Nagle)",
    )
    clients: str = Field(description="client addresses, first-last")
    server: IPv4Address = Field(description="address that the clients connect to")
    port: int = Field(ge=1, le=65535, description="TCP port of the server")

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


class Cores(Section):
    """Linux CPU numbers: the load's and the harness's, and those of the server under test.

    `auto`: half of the machine each. `shared`: all of it for both, which only programs can do.
    """

    load: list[Core] = Field(min_length=1, description="of the generator and the harness")
    server: list[Core] = Field(min_length=1, description="of the system under test")
    shared: bool = Field(
        default=False, description="both sides may have cores in common: figures are of both"
    )

    @property
    def common(self) -> list[int]:
        """Cores of both sides."""
        return sorted(set(self.load) & set(self.server))

    @model_validator(mode="after")
    def _shares_knowingly(self) -> "Cores":
        if self.common and not self.shared:
            raise ValueError(
                f"cores {self.common} are given to both sides, which falsifies every CPU figure; "
                "give each its own, or say shared: true"
            )
        return self


class Nginx(Section):
    """Settings of nginx, and of every other server on the kernel's stack as far as it knows them.

    What a tier sets, harness/tuning/tiers says.
    """

    stack: StackName = Field(default=KERNEL, description="what carries its connections")
    tuning: TierName = Field(
        default="stock", description="a tier of harness/tuning/tiers by name, or a file of yours"
    )
    workers: Workers | None = Field(default=None, description="by default one for each core")
    worker_connections: int = Field(
        default=16_384, ge=64, description="room in each worker; nginx allocates it at start"
    )
    backlog: int | None = Field(
        default=None, ge=1, description="accept queue of each worker; nginx's own default is 511"
    )


class Matrix(Section):
    """Axes that are varied: every server is measured at every combination of them.

    Stacks, tiers, cores and workers are for servers on the kernel's stack, or one in its place; a
    server that speaks frames itself stands once for each response length.
    """

    stack: Annotated[list[StackName], Once] = Field(default=[], description="in place of nginx's")
    tuning: Annotated[list[TierName], Once] = Field(default=[], description="in place of nginx's")
    cores: Annotated[list[Workers], Once] = Field(
        default=[], description="so many of the server's cores; auto: 1, 2, 4 ... all of them"
    )
    workers: Annotated[list[Workers], Once] = Field(
        default=[], description="in place of nginx's; auto: 1, 2, 4 ... as many as cores"
    )
    response_bytes: Annotated[list[ResponseBytes], Once] = Field(
        default=[], description="in place of the workload's"
    )

    def parts(self) -> set[str]:
        """Every word that it adds to a server's name."""
        return {
            *(tier_of(tuning).name for tuning in self.tuning),
            *map(cores_part, self.cores),
            *map(workers_part, self.workers),
            *map(length_part, self.response_bytes),
        }


class Experiment(Section):
    """One comparison: every server meets the same load, in turn, `rounds` times.

    The load is of ASTF profiles (`load`, `memory`) or of HTTP clients (`http`). A part that is left
    out measures nothing.

    `baseline` is the server whose cost stands above the line of every factor, `against` below.
    In a matrix each names a server, or one of its variants (nginx/kernel:rps); every variant that
    `baseline` fits is divided by the one that `against` fits at the same response length.
    """

    title: str = Field(description="heading of the report")
    servers: Annotated[list[ServerName], Once] = Field(
        min_length=1, description="the systems to compare, in the order of their turns"
    )
    matrix: Matrix = Field(default=Matrix(), description="settings to vary")
    baseline: str = Field(description="system whose cost is the factor's numerator")
    against: str = Field(description="system whose cost is the factor's denominator")
    rounds: int = Field(ge=1, le=100, description="how often each system takes its turn")
    patience: float = Field(
        default=1,
        ge=1,
        le=100,
        description="all limits within which a part has to start or answer, times this: for a "
        "slow host",
    )
    cores: Cores = Field(description="which CPUs each side gets")
    nginx: Nginx = Field(default=Nginx(), description="settings of servers that are programs")
    dut: DutSettings = Field(default=DutSettings(), description="settings of a device under test")
    workload: Workload = Field(description="what one connection does")
    load: LoadPart = Field(default=NO_LOAD, description="connections per second, for CPU costs")
    memory: MemoryPart = Field(default=NO_MEMORY, description="open flows, for memory costs")
    http: HttpLoad | None = Field(
        default=None, description="load by wrk, ab or h2load, in place of load and memory"
    )
    published: Path | None = Field(
        default=None, description="a file of published/: others' figures, to stand beside these"
    )

    def offering(self, rates: list[float]) -> "Experiment":
        """The same at these rates, in place of shares of a ceiling."""
        load = self.load.model_copy(update={"offered_cps": rates, "offered_shares": []})
        return self.model_copy(update={"load": load})

    @model_validator(mode="before")
    @classmethod
    def _resolve_auto(cls, data: object) -> object:
        return resolve_auto(data)

    @model_validator(mode="after")
    def _has_one_load(self) -> "Experiment":
        load = self.load
        profiles = bool(load.offered_cps or load.offered_shares or self.memory.open_flows)
        if profiles == bool(self.http):
            raise ValueError("it needs a load: either of profiles (load, memory), or of http")
        return self

    @model_validator(mode="after")
    def _compares_its_own(self) -> "Experiment":
        servers = [registry.server_name(server) for server in self.servers]
        if len(set(servers)) < len(servers):
            raise ValueError(f"two servers have the same name: {', '.join(servers)}")
        stacks = self.matrix.stack or [self.nginx.stack]
        there = dict.fromkeys(
            [*servers, *(on_stack(server, stack) for server in servers for stack in stacks)]
        )
        for name in (self.baseline, self.against):
            server, _, parts = name.partition(":")
            if server not in there:
                raise ValueError(f"{name!r} is compared, but is not among {', '.join(there)}")
            unknown = set(filter(None, parts.split(","))) - self.matrix.parts()
            if unknown:
                raise ValueError(f"{name!r}: the matrix has no {', '.join(sorted(unknown))}")
        return self

    @model_validator(mode="after")
    def _has_the_cores(self) -> "Experiment":
        there = len(self.cores.server)
        if self.cores.shared and not self.http:
            raise ValueError(
                "cores: only programs (http) share them: a generator that polls does not"
            )
        if any(number > there for number in self.matrix.cores):
            raise ValueError(f"matrix.cores: the server has {there} cores: {self.cores.server}")
        return self

    @model_validator(mode="after")
    def _fits_nginx(self) -> "Experiment":
        most = max(self.memory.open_flows, default=0)
        if self.http:
            most = self.http.most_connections
        workers = min(self.matrix.workers, default=self.nginx.workers or len(self.cores.server))
        room = self.nginx.worker_connections * workers
        if "nginx/kernel" in self.servers and most >= room:
            raise ValueError(f"{most} open flows do not fit into {room} connections of nginx")
        return self
