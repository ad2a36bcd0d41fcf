"""The sections `hosts`, `bed` and `generators` of an experiment: where the load comes from."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator, model_validator

from stackcost.contracts.wiring import is_virtual_device
from stackcost.experiment.entries import Once
from stackcost.experiment.section import Core, Section

MOST = 16  # generators of one load

HostName = Annotated[str, Field(pattern=r"^[\w-]+$")]
# Linux cuts names to 15 characters (IFNAMSIZ).
InterfaceName = Annotated[str, Field(pattern=r"^[^/\s]{1,15}$")]
# An interface, or a port that the engine makes by a virtual device of DPDK, with its arguments.
PortName = Annotated[str, Field(pattern=r"^([^/\s]{1,15}|net_\w+,\S+)$")]


class SshHost(Section):
    """Another host with stackcost, which is reached by SSH with a key.

    A user other than root needs the right to run one command without a password: `sudo -n` with
    `python`, and the arguments `-P -m stackcost.hosts.agent`.
    """

    address: str = Field(min_length=1, description="name or IP address of its SSH server")
    port: int = Field(default=22, ge=1, le=65535, description="port of its SSH server")
    user: str = Field(default="root", min_length=1, description="user to log in as")
    key: Path | None = Field(
        default=None,
        description="private key; default: those in ~/.ssh, or the agent's",
    )
    known_hosts: Path = Field(
        default=Path("~/.ssh/known_hosts"),
        validate_default=True,
        description="file with the host's key",
    )
    python: str = Field(
        default="/opt/stackcost/bin/python",
        pattern="^/",
        description="the Python there that has stackcost installed",
    )

    @field_validator("key", "known_hosts")
    @classmethod
    def _absolute(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        """Relative to the experiment file."""
        folder = Path((info.context or {}).get("folder", "."))
        return path and (folder / path.expanduser()).resolve()


class GeneratorSection(Section):
    """One of several generators that load the server together."""

    share: float = Field(
        default=1,
        gt=0,
        le=1000,
        description="its share of every load, relative to the others",
    )
    cores: Annotated[list[Core], Once] = Field(
        default=[], description="its cores; default: those of cores.load"
    )


class ServerSide(Section):
    """Where the system under test is."""

    host: HostName | None = Field(
        default=None, description="a name in hosts; default: the machine that runs stackcost"
    )
    interfaces: Annotated[list[InterfaceName], Once] = Field(
        min_length=1,
        max_length=2,
        description="interfaces of that host: of a server one; of a device two, the clients' first",
    )


class GeneratorSide(GeneratorSection):
    """Where a generator is."""

    host: HostName | None = Field(
        default=None, description="a name in hosts; default: the machine that runs stackcost"
    )
    interfaces: Annotated[list[PortName], Once] = Field(
        min_length=1,
        max_length=2,
        description="interfaces of that host: for a server one; for a device two, the clients' "
        "first; one for generators after the first. Or a virtual device of DPDK, such as a "
        "guest's vhost-user NIC",
    )


class Bed(Section):
    """A test bed over two or more hosts. Its interfaces must be joined and unused.

    They are moved into network namespaces for the time of a turn, and given back. `cores` are those
    of the host of each side. Each host has one part of the test bed.
    """

    server: ServerSide | None = Field(
        default=None,
        description="the side of the system under test; only dut/external, which has none, is "
        "without it",
    )
    load: GeneratorSide | Annotated[list[GeneratorSide], Field(min_length=1, max_length=MOST)] = (
        Field(
            description="the side of the generator; a list for several generators, which a switch "
            "joins to the server"
        )
    )

    @property
    def loads(self) -> list[GeneratorSide]:
        """The generators."""
        return self.load if isinstance(self.load, list) else [self.load]

    @property
    def virtual_devices(self) -> list[str]:
        """Ports of the generators that are no interfaces."""
        return [name for load in self.loads for name in load.interfaces if is_virtual_device(name)]

    @property
    def hosts(self) -> list[HostName | None]:
        """The host of each part; None is this machine."""
        server = [self.server.host] if self.server else []
        return [*server, *(load.host for load in self.loads)]

    @model_validator(mode="after")
    def _is_over_hosts(self) -> "Bed":
        twice = {host for host in self.hosts if self.hosts.count(host) > 1}
        if twice:
            names = ", ".join(sorted(host or "this machine" for host in twice))
            raise ValueError(
                f"{names} has two parts of the test bed; each part needs a host of its own "
                "(leave out the section bed for a test bed of one machine)"
            )
        return self
