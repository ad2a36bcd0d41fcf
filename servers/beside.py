"""nginx that a server under test depends on itself, run where the load is and not on its cores."""

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from servers.memory_files import with_memory_files
from servers.nginx_kernel.configuration import find_build
from servers.nginx_kernel.status import read_status
from servers.probe import ensure_port_free
from stackcost.contracts.endpoint import Host
from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import end_group, execute, run
from stackcost.host.patience import patient

START_PATIENCE_S = 10.0


@dataclass(slots=True)
class NginxBeside:
    """One nginx with a configuration of the caller's, which has its status on `status.sock`.

    `port`: what it listens on at the host's address. `files`: length by path of what it serves from
    memory, below `www`.
    """

    host: Host
    folder: Path
    configuration: str
    port: int
    files: Mapping[str, int] = field(default_factory=dict)
    _process: "subprocess.Popen[Any] | None" = None

    def start(self) -> None:
        """Start it and wait until it answers; StackcostError with its own words if it does not."""
        ensure_port_free(self.host.namespace, self.host.address, self.port)
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("www", "temporary"):
            (self.folder / name).mkdir(exist_ok=True)
        (self.folder / "status.sock").unlink(missing_ok=True)
        (self.folder / "nginx.conf").write_text(self.configuration)
        command = [find_build().path, "-p", ".", "-e", "stderr", "-c", "nginx.conf"]
        if self.files:
            command = with_memory_files("www", self.files, command)
        log = self.folder / "error.log"
        with log.open("wb") as output:
            self._process = run(
                self.host.namespace,
                command,
                self.host.cpus,
                cwd=self.folder,
                stdout=output,
                stderr=output,
            )
        deadline = time.monotonic() + patient(START_PATIENCE_S)
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                read_status(self.folder)
                return
            except (OSError, ValueError):
                time.sleep(0.02)
        said = " ".join(log.read_text(errors="replace").split()[-40:])
        raise StackcostError(f"nginx beside the load did not start: {said}", f"see {log}")

    @property
    def process_id(self) -> int | None:
        """Of the master, once it was started; it may have ended since."""
        return self._process.pid if self._process else None

    def requests(self) -> int:
        """Requests since start by its own count, each of these questions included."""
        return read_status(self.folder).requests

    def stop(self) -> None:
        """End it; may be called at any time."""
        if self._process is not None:
            end_group(self._process)
            self._process = None


def ensure_address(host: Host) -> None:
    """Give the host's end its address, where nothing else has done so before the load begins."""
    execute(
        host.namespace,
        ["ip", "addr", "replace", f"{host.address}/{host.prefix}", "dev", host.interface],
    )
