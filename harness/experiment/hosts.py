"""The sections `hosts` and `bed` of an experiment: a test bed over two hosts."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from stackcost.harness.experiment.section import Section

HostName = Annotated[str, Field(pattern=r"^[\w-]+$")]
# Linux cuts names to 15 characters (IFNAMSIZ).
InterfaceName = Annotated[str, Field(pattern=r"^[^/\s]{1,15}$")]


class SshHost(Section):
    """Another host with stackcost, which is reached by SSH with a key.

    A user other than root needs the right to run one command without a password: `sudo -n` with
    `python`, and the arguments `-P -m stackcost.harness.hosts.agent`.
    """

    address: str = Field(min_length=1, description="host name or IP address of its SSH server")
    port: int = Field(default=22, ge=1, le=65535, description="port of its SSH server")
    user: str = Field(default="root", min_length=1, description="user to log in as")
    key: Path | None = Field(
        default=None,
        description="file of the private key; default: those in ~/.ssh, or the agent's",
    )
    known_hosts: Path = Field(
        default=Path("~/.ssh/known_hosts"),
        validate_default=True,
        description="file with the host's key",
    )
    python: str = Field(
        default="/opt/stackcost/bin/python",
        pattern="^/",
        description="the Python on that host that has stackcost installed",
    )

    @field_validator("key", "known_hosts")
    @classmethod
    def _absolute(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        """Relative to the experiment file."""
        folder = Path((info.context or {}).get("folder", "."))
        return path and (folder / path.expanduser()).resolve()


class ServerSide(Section):
    """Where the system under test is."""

    host: str = Field(description="a name in hosts")
    interfaces: list[InterfaceName] = Field(
        min_length=1,
        max_length=2,
        description="interfaces of that host: a server needs one; a device two, the clients' first",
    )


class LoadSide(Section):
    """Where the generator is: on the machine that runs stackcost."""

    interfaces: list[InterfaceName] = Field(
        min_length=1,
        max_length=2,
        description="interfaces of this machine: for a server one; for a device two, the clients' "
        "first",
    )


class Bed(Section):
    """A test bed over two hosts. Its interfaces must be joined and unused.

    They are moved into network namespaces for the time of a turn, and given back. `cores` are those
    of the host of each side.
    """

    server: ServerSide = Field(description="the side of the system under test")
    load: LoadSide = Field(description="the side of the generator")
