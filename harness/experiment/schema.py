"""What an experiment file may say: one YAML file describes one comparison.

Unknown keys are errors, so that a misspelt key never silently means its default.
"""

import re
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from duts.settings import DutSettings
from harness.errors import StackcostError
from harness.experiment.http_schema import HttpLoad
from harness.experiment.section import Core, Rate, Seconds, Section, StackName
from harness.experiment.shares import resolve_auto
from harness.stack import KERNEL, on_stack
from harness.tuning import tier_of
from servers import registry

FlowState = Literal["established", "tracked", "half-open", "time-wait"]
Workers = Annotated[int, Field(ge=1, le=1024)]
ResponseBytes = Annotated[int, Field(ge=1, le=100_000_000)]


def _absolute(name: str, suffix: str, info: ValidationInfo) -> str:
    """The path of a file made absolute from the validation's folder; any other name as it is."""
    folder = (info.context or {}).get("folder", ".")
    return str(Path(folder, name).resolve()) if name.endswith(suffix) else name


def _known_tier(name: str, info: ValidationInfo) -> str:
    """A tier's name, or the path of its file, relative to the experiment file."""
    name = _absolute(name, ".yaml", info)
    try:
        tier_of(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return name


def _known_server(name: str, info: ValidationInfo) -> str:
    """A server's name, or the path of its file, relative to the experiment file."""
    try:
        registry.check_entry(name)
    except StackcostError as error:
        raise ValueError(str(error)) from error
    return _absolute(name, registry.SUFFIX, info)


def _each_once(values: list[object]) -> list[object]:
    if len(set(values)) != len(values):
        raise ValueError("a value stands twice in the list")
    return values


TierName = Annotated[str, AfterValidator(_known_tier)]
Once = AfterValidator(_each_once)
SERVER_SCHEMA = {
    "anyOf": [
        {"enum": list(registry.SHIPPED), "description": "a server of the suite"},
        {
            "type": "string",
            "pattern": f"\\{registry.SUFFIX}$",
            "description": "a server of your own: its file, relative to this one",
        },
    ]
}
ServerName = Annotated[str, AfterValidator(_known_server), WithJsonSchema(SERVER_SCHEMA)]


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


class Cores(Section):
    """Linux CPU numbers: the generator's and the harness's, and those of the server under test.

    `auto`: half of the machine each.
    """

    load: list[Core] = Field(min_length=1)
    server: list[Core] = Field(min_length=1)


class Nginx(Section):
    """Settings of nginx, and of every other server on the kernel's stack as far as it knows them.

    What a tier sets, harness/tuning/tiers says.
    """

    stack: StackName = Field(default=KERNEL, description="what carries its connections")
    tuning: TierName = "stock"
    workers: Workers | None = Field(default=None, description="by default one for each core")
    worker_connections: int = Field(
        default=16_384, ge=64, description="room in each worker; nginx allocates it at start"
    )
    backlog: int | None = Field(
        default=None, ge=1, description="accept queue of each worker; nginx's own default is 511"
    )


def workers_part(workers: int) -> str:
    """How a number of workers stands in a variant's name."""
    return f"{workers}-workers"


def workers_of(name: str) -> int | None:
    """The number of workers in a variant's name; None where it does not vary."""
    found = re.search(r"\b(\d+)-workers\b", name)
    return int(found[1]) if found else None


def length_part(response_bytes: int) -> str:
    """How a response length stands in a variant's name."""
    return f"{response_bytes}-B"


def cores_part(cores: int) -> str:
    """How a number of the server's cores stands in a variant's name."""
    return f"{cores}-cores"


def axis_of(name: str) -> tuple[str, int, str]:
    """A variant's name without its number of workers or cores, that number, and what it counts.

    1 and nothing where neither varies.
    """
    found = re.search(r"[,:](\d+)-(workers|cores)\b", name)
    if found is None:
        return name, 1, ""
    server, _, parts = name.partition(":")
    rest = ",".join(part for part in parts.split(",") if part != found[0][1:])
    what = "worker processes" if found[2] == "workers" else "cores"
    return f"{server}:{rest}" if rest else server, int(found[1]), what


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

    title: str
    servers: Annotated[list[ServerName], Once] = Field(min_length=1)
    matrix: Matrix = Matrix()
    baseline: str
    against: str
    rounds: int = Field(ge=1, le=100)
    cores: Cores
    nginx: Nginx = Nginx()
    dut: DutSettings = DutSettings()
    workload: Workload
    load: LoadPart = NO_LOAD
    memory: MemoryPart = NO_MEMORY
    http: HttpLoad | None = None
    published: Path | None = Field(
        default=None, description="a file of published/: others' figures, to stand beside these"
    )

    @model_validator(mode="before")
    @classmethod
    def _resolve_auto(cls, data: object) -> object:
        return resolve_auto(data)

    @model_validator(mode="after")
    def _has_one_load(self) -> "Experiment":
        profiles = bool(self.load.offered_cps or self.memory.open_flows)
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
