"""nginx as a backend of a server under test; it runs on the load's cores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stackcost.contracts.placement import BackendPlace
from stackcost.host.namespace import execute, spawner
from stackcost.host.program import Program
from stackcost.servers.memory_files import with_memory_files
from stackcost.servers.nginx_status import answers, find_build, read_status
from stackcost.servers.probe import ensure_port_free


@dataclass(slots=True)
class NginxBackend:
    """One nginx with the caller's configuration, which provides its status on `status.sock`.

    `port`: what it listens on at the host's address. `files`: length by path of what it serves from
    memory, below `www`.
    """

    host: BackendPlace
    folder: Path
    configuration: str
    port: int
    files: Mapping[str, int] = field(default_factory=dict)
    _program: Program | None = None

    def start(self) -> None:
        """Start it and wait until it answers; StackcostError with its own words if it does not."""
        ensure_port_free(self.host.namespace, self.host.address, self.port)
        command = self.as_program()
        self._program = Program("the backend nginx", self.folder / "error.log")
        self._program.start(spawner(self.host.namespace, self.host.cpus), command, cwd=self.folder)
        if not self._program.wait_until_up(lambda: answers(self.folder)):
            raise self._program.start_error()

    def as_program(self) -> list[str]:
        """Write its files, and return its command, whose current folder is `folder`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("www", "temporary"):
            (self.folder / name).mkdir(exist_ok=True)
        (self.folder / "status.sock").unlink(missing_ok=True)
        (self.folder / "nginx.conf").write_text(self.configuration)
        command = [find_build().path, "-p", ".", "-e", "stderr", "-c", "nginx.conf"]
        return with_memory_files("www", self.files, command) if self.files else command

    @property
    def process_id(self) -> int | None:
        """Process id of the master, after its start; it may have ended since."""
        return self._program.process_id if self._program else None

    def requests(self) -> int:
        """Requests since start by its own count, including these queries."""
        return read_status(self.folder).requests

    def stop(self) -> None:
        """End it; may be called at any time."""
        if self._program is not None:
            self._program.end()


def ensure_address(host: BackendPlace) -> None:
    """Set the address of the host's interface, if it is not set yet."""
    execute(
        host.namespace,
        ["ip", "addr", "replace", f"{host.address}/{host.prefix}", "dev", host.interface],
    )
