"""The schema of an experiment file: one YAML file describes one comparison.

Unknown keys are errors, so that a misspelt key does not silently select the default.
"""

import math
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from stackcost.contracts.addresses import AddressRange
from stackcost.contracts.dut_settings import DutSettings
from stackcost.contracts.network import NetworkSettings
from stackcost.contracts.program_settings import HaproxySettings, ProgramSettings
from stackcost.contracts.stack import KERNEL
from stackcost.contracts.tls import TlsSettings
from stackcost.experiment.auto import resolve_auto
from stackcost.experiment.counted_section import Counted
from stackcost.experiment.entries import (
    Once,
    OwnFile,
    ServerName,
    StackName,
    TierName,
)
from stackcost.experiment.hosts import MOST, Bed, GeneratorSection, HostName, SshHost
from stackcost.experiment.http_schema import HttpLoad
from stackcost.experiment.matrix_section import Matrix, ResponseBytes
from stackcost.experiment.profile_load import NO_LOAD, NO_MEMORY, LoadSection, MemorySection
from stackcost.experiment.section import Core, Section
from stackcost.servers import registry
from stackcost.stacks import is_own_file, on_stack

TcpSettings = Literal["today", "published"]
COUNTED_ROUNDS = 2  # two boots: what differs between them is what is not exact
EXTERNAL = "dut/external"
OPEN_SHARE = 0.5  # of the ceiling that was found, at which held flows are opened
PORTS = 62_975  # source ports of an address: the engine takes 1024 to 63999 without 4791


class Workload(Section):
    """The traffic of one connection. HTTP clients use only the addresses."""

    request_bytes: int = Field(
        default=100, ge=18, le=1_000_000, description="bytes of the HTTP request"
    )
    response_bytes: ResponseBytes = Field(
        default=1000, description="bytes of the HTTP response, headers and body"
    )
    tcp: TcpSettings = Field(
        default="today",
        description="TCP settings of both sides in built-in profiles: those of servers today "
        "(initial window 10, TCP_NODELAY), or of the published test bed (window 2, Nagle)",
    )
    clients: str = Field(description="client addresses: first-last")
    server: IPv4Address = Field(description="address that the clients connect to")
    port: int = Field(ge=1, le=65535, description="TCP port of the server")

    @field_validator("clients")
    @classmethod
    def _is_range(cls, text: str) -> str:
        AddressRange.of(text).check()
        return text

    @field_validator("server")
    @classmethod
    def _is_no_client(cls, server: IPv4Address, info: ValidationInfo) -> IPv4Address:
        AddressRange(server, server).check()
        clients = AddressRange.of(info.data["clients"]) if "clients" in info.data else None
        if clients and server in clients:
            raise ValueError(f"it is one of the clients, {clients}; it needs an address of its own")
        return server

    @property
    def client_network(self) -> IPv4Network:
        """The smallest network that contains all clients, for the server's route to them."""
        first, last = AddressRange.of(self.clients)
        differing = (int(first) ^ int(last)).bit_length()
        return IPv4Network((int(first) >> differing << differing, 32 - differing))


class Cores(Section):
    """Linux CPU numbers of each side.

    `cores: auto` gives half of the machine to each side; `cores: shared` gives all to both, which
    only HTTP clients can do.
    """

    load: Annotated[list[Core], Once] = Field(
        min_length=1, description="cores of the generator and the harness"
    )
    server: Annotated[list[Core], Once] = Field(
        default=[], description="cores of the system under test; dut/external has none"
    )
    shared: bool = Field(
        default=False,
        description="both sides may use the same cores, and CPU figures include both",
    )

    @property
    def common(self) -> list[int]:
        """Cores of both sides."""
        return sorted(set(self.load) & set(self.server))


class ServerSection(ProgramSettings):
    """Settings of servers on the kernel's stack, or on a stack that replaces it."""

    stack: StackName = Field(default=KERNEL, description="network stack of the server")
    tuning: TierName = Field(
        default="stock",
        description="a tier's name, or your own file",
    )


class Experiment(Section):
    """One comparison: every server gets the same load, in turn, `rounds` times.

    The load comes from ASTF profiles (`load`, `memory`) or from HTTP clients (`http`). `baseline`
    and `against` name a server, or a variant of the matrix (nginx/kernel:rps): every variant that
    matches `baseline` is divided by the one that matches `against` at the same response length.
    """

    title: str = Field(description="heading of the report")
    servers: Annotated[list[ServerName], Once] = Field(
        min_length=1, description="the systems, in the order of their turns"
    )
    matrix: Matrix = Field(default=Matrix(), description="settings to vary")
    baseline: str | Annotated[list[str], Once] = Field(
        default="",
        description="system whose cost is the numerator of each factor, or a list; may be left "
        "out for a single system",
    )
    against: str = Field(
        default="",
        description="system whose cost is the denominator of each factor",
    )
    rounds: int = Field(ge=1, le=100, description="turns of each system")
    timeout_factor: float = Field(
        default=1,
        ge=1,
        le=100,
        description="factor for the time limits of programs, for a slow host",
    )
    hosts: dict[HostName, SshHost] = Field(
        default={}, description="other hosts of the test bed by name, reached by SSH"
    )
    bed: Bed | None = Field(
        default=None,
        description="hosts and interfaces; default: a veth pair on this machine",
    )
    generators: Annotated[list[GeneratorSection], Field(max_length=MOST)] = Field(
        default=[],
        description="several generators on this machine; default: one. Those on other hosts are "
        "in bed.load",
    )
    cores: Cores = Field(description="CPUs of each side")
    server: ServerSection = Field(
        default=ServerSection(), description="settings of servers on the kernel's stack"
    )
    haproxy: HaproxySettings = Field(
        default=HaproxySettings(), description="settings of haproxy/kernel"
    )
    dut: DutSettings = Field(default=DutSettings(), description="settings of a device under test")
    workload: Workload = Field(description="traffic of one connection")
    network: NetworkSettings = Field(
        default=NetworkSettings(),
        description="the network between clients and server; default: the bed's link alone",
    )
    load: LoadSection = Field(default=NO_LOAD, description="connections per second, for CPU costs")
    memory: MemorySection = Field(default=NO_MEMORY, description="open flows, for memory costs")
    http: HttpLoad | None = Field(
        default=None, description="load by HTTP clients; replaces load and memory"
    )
    counted: Counted | None = Field(
        default=None,
        description="count instructions in an emulated guest; measures no time",
    )
    core_hour_price: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000_000,
        description="price of a core for an hour, in any currency; the report says what a million "
        "connections cost",
    )
    collectors: Annotated[list[OwnFile], Once] = Field(
        default=[],
        description="Python files of your own collectors, relative to this file",
    )
    sample_stacks: bool = Field(
        default=True,
        description="sample the stacks of the server's cores, which say what its time and memory "
        "was spent on; takes 0.3 to 0.5 % of a core",
    )

    @property
    def uses_this_machine(self) -> bool:
        """Whether a part of its test bed is on the machine that runs stackcost."""
        return self.counted is None and (self.bed is None or None in self.bed.hosts)

    def as_counted(self, kernels: Sequence[str] = ()) -> "Experiment":
        """This experiment, counted; what is there already stays. `kernels`: to compare, by version
        or absolute path; none: as it says.
        """
        own, matrix = self.counted or Counted(), self.matrix
        if len(kernels) == 1:
            own = own.model_copy(update={"kernel": kernels[0]})
        if kernels:
            matrix = matrix.model_copy(update={"kernel": [*kernels] if len(kernels) > 1 else []})
        return self.model_copy(
            update={
                "matrix": matrix,
                "counted": own,
                "rounds": min(self.rounds, COUNTED_ROUNDS),
                "memory": NO_MEMORY,
            }
        )

    @property
    def server_host(self) -> str | None:
        """The name of the other host that has the server; None if there is none."""
        return self.bed.server.host if self.bed and self.bed.server else None

    @property
    def server_interfaces(self) -> tuple[str, ...]:
        """Interfaces of the server's host, by the section bed; empty for the bed of one machine."""
        return tuple(self.bed.server.interfaces) if self.bed and self.bed.server else ()

    @property
    def tls(self) -> TlsSettings | None:
        """TLS of the connections of profiles, with the key of the certificate; None: without."""
        asked = self.load.tls
        if asked is None or asked.certificate:
            return asked
        return asked.model_copy(update={"certificate": self.server.certificate})

    @property
    def stacks(self) -> list[str]:
        """The stacks of the server."""
        return self.matrix.stack or [self.server.stack]

    @property
    def has_network(self) -> bool:
        """Whether the network is another than the bed's link."""
        return self.network != NetworkSettings() or bool(self.matrix.network)

    def offering(self, rates: list[float], ceiling: float = math.inf) -> "Experiment":
        """This experiment with rates instead of shares of a ceiling.

        `ceiling`: connections/s that every system holds. Held flows are opened at half of it at
        most: faster ones would only show again that it is the ceiling.
        """
        load = self.load.model_copy(update={"offered_cps": rates, "offered_shares": []})
        slower = {"open_cps": min(self.memory.open_cps, OPEN_SHARE * ceiling)}
        memory = self.memory.model_copy(update=slower)
        return self.model_copy(update={"load": load, "memory": memory})

    @field_validator("cores")
    @classmethod
    def _shares_knowingly(cls, cores: Cores, info: ValidationInfo) -> Cores:
        if cores.common and not cores.shared and not info.data.get("bed"):
            raise ValueError(
                f"both sides would use cores {cores.common}, which falsifies every CPU figure; "
                "give each side its own cores, or set shared: true"
            )
        return cores

    @model_validator(mode="before")
    @classmethod
    def _resolve_auto(cls, data: object) -> object:
        return resolve_auto(data)

    @model_validator(mode="after")
    def _has_one_load(self) -> "Experiment":
        load = self.load
        profiles = bool(load.offered_cps or load.offered_shares or self.memory.open_flows)
        if profiles == bool(self.http):
            raise ValueError("it needs one kind of load: either profiles (load, memory) or http")
        if self.has_network and self.http:
            raise ValueError(
                "network: HTTP clients send by the kernel's stack, and the network is the "
                "generator's; measure it with load"
            )
        if self.has_network and load.offered_shares:
            raise ValueError(
                "network: a search for load.offered_shares counts connections that the network "
                "delays as lost; give rates by load.offered_cps"
            )
        if (load.tls or self.matrix.tls) and self.http:
            raise ValueError("load.tls, matrix.tls: tests of http have tls of their own")
        if load.tls and load.tls.certificate and self.matrix.certificate:
            raise ValueError("load.tls.certificate: the matrix varies it; leave one of them out")
        return self

    @model_validator(mode="after")
    def _compares_its_own(self) -> "Experiment":
        servers = [registry.server_name(server) for server in self.servers]
        if len(set(servers)) < len(servers):
            raise ValueError(f"two servers have the same name: {', '.join(servers)}")
        stacks = self.stacks
        if len({on_stack("", stack) for stack in stacks}) < len(stacks):
            raise ValueError(f"two stacks have the same name: {', '.join(stacks)}")
        there = dict.fromkeys(
            [*servers, *(on_stack(server, stack) for server in servers for stack in stacks)]
        )
        if not self.baseline or not self.against:
            if len(there) == 1 and not self.matrix.parts():
                return self
            raise ValueError(
                "baseline and against: each factor is the cost of the one divided by that of the "
                f"other; name two of: {', '.join(there)}"
            )
        baselines = [self.baseline] if isinstance(self.baseline, str) else self.baseline
        for name in (*baselines, self.against):
            server, _, parts = name.partition(":")
            if server not in there:
                raise ValueError(
                    f"{name!r} is not a system of this experiment, which has: {', '.join(there)}"
                )
            unknown = set(filter(None, parts.split(","))) - self.matrix.parts()
            if unknown:
                raise ValueError(f"{name!r}: the matrix has no {', '.join(sorted(unknown))}")
        return self

    @model_validator(mode="after")
    def _counts_where_kernels_vary(self) -> "Experiment":
        if self.matrix.kernel and self.counted is None:
            raise ValueError("matrix.kernel: kernels vary in a counted run; add counted: {}")
        return self

    @model_validator(mode="after")
    def _reuseport_has_an_effect(self) -> "Experiment":
        asked = self.matrix.reuseport or not self.server.reuseport
        if asked and not any(registry.server_class(each).takes_reuseport for each in self.servers):
            raise ValueError("reuseport: none of the servers has this setting, but nginx/kernel")
        return self

    @model_validator(mode="after")
    def _has_the_cores(self) -> "Experiment":
        there = len(self.cores.server)
        if self.cores.shared and not self.http:
            raise ValueError(
                "cores: only HTTP clients (http) can share cores; a generator that polls cannot"
            )
        if any(number > there for number in self.matrix.cores):
            raise ValueError(
                f"matrix.cores: the server has only {there} cores: {self.cores.server}"
            )
        return self

    @model_validator(mode="after")
    def _has_its_system(self) -> "Experiment":
        """A system that stackcost starts has a side of the bed and cores, another one has none."""
        external = EXTERNAL in self.servers
        if external and (self.servers != [EXTERNAL] or self.dut.device is None):
            raise ValueError(f"{EXTERNAL} is measured alone, and dut.device says what it is")
        if external and (self.bed is None or self.bed.server or self.cores.server):
            raise ValueError(
                f"{EXTERNAL} needs a section bed with the interfaces of bed.load, without "
                "bed.server and cores.server: stackcost has no part of it"
            )
        if not external and self.bed and self.bed.server is None:
            raise ValueError("bed.server: the key is missing")
        if not external and not self.cores.server:
            raise ValueError("cores.server: it needs at least one core")
        return self

    @model_validator(mode="after")
    def _fits_its_bed(self) -> "Experiment":
        if self.bed is None:
            if self.hosts:
                raise ValueError("hosts: no part of the test bed uses them; add the section bed")
            return self
        for host in filter(None, self.bed.hosts):
            if host not in self.hosts:
                known = ", ".join(self.hosts) or "none"
                raise ValueError(f"bed: {host!r} is not in hosts, which has: {known}")
        if self.generators:
            raise ValueError("generators: with a section bed, list them in bed.load")
        own = [server for server in self.servers if server.endswith(registry.SUFFIX)]
        for what, lacks in (
            ("HTTP clients (http)", bool(self.http)),
            (
                "flows that are not established (memory.states)",
                self.memory.states != ["established"],
            ),
            ("a server of your own file", bool(own)),
            ("a profile of Onload of your own file", any(map(is_own_file, self.stacks))),
            ("a collector of your own file (collectors)", bool(self.collectors)),
            ("nginx behind a device (dut.server)", self.dut.server == "nginx"),
        ):
            if lacks:
                raise ValueError(f"bed: {what} works only on the test bed of one machine")
        return self

    @model_validator(mode="after")
    def _fits_virtual_devices(self) -> "Experiment":
        """Such a port has no MAC address before its generator begins, and the kernel lacks it."""
        devices = self.bed.virtual_devices if self.bed else []
        if not devices:
            return self
        others = [name for name in self.servers if not registry.server_class(name).kernel_stack]
        if others or len(self.bed.loads if self.bed else []) > 1:
            raise ValueError(
                f"bed.load: {devices[0]} is a virtual device of DPDK, by which one generator loads "
                "servers on the kernel's stack, and nothing else"
            )
        return self

    @model_validator(mode="after")
    def _divides_its_clients(self) -> "Experiment":
        if self.http and self.generators:
            raise ValueError(
                "generators: HTTP clients (http) have none; set http.processes in their place"
            )
        loads = self.bed.loads if self.bed else self.generators
        if (there := AddressRange.of(self.workload.clients).size) < len(loads):
            raise ValueError(
                f"workload.clients: {len(loads)} generators cannot divide {there} addresses"
            )
        return self

    @model_validator(mode="after")
    def _has_the_ports(self) -> "Experiment":
        clients = AddressRange.of(self.workload.clients).size
        most, room = max(self.memory.open_flows, default=0), clients * PORTS
        if most > room:
            raise ValueError(
                f"memory.open_flows: {most:,} open flows need more than the {room:,} source ports "
                f"of {clients:,} addresses; give more addresses in workload.clients"
            )
        return self

    @model_validator(mode="after")
    def _fits_nginx(self) -> "Experiment":
        most = max(self.memory.open_flows, default=0)
        if self.http:
            most = self.http.most_connections
        workers = min(self.matrix.workers, default=self.server.workers or len(self.cores.server))
        room = self.server.worker_connections * workers
        if "nginx/kernel" in self.servers and most >= room:
            raise ValueError(
                f"{most} open flows need more than the {room} connections that nginx may hold; "
                "raise server.worker_connections"
            )
        return self
