"""The address of a server and the resources that it may use, from the test bed."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackcost.contracts.placement import BackendPlace, Place, Placement
from stackcost.contracts.stack import Stack


@dataclass(frozen=True, slots=True)
class ClientGateway:
    """A generator after the first one, as the server sees it: the way to some of the clients.

    `address`: of its port (IPv4; `ipv6_of` gives the other one). `networks`: its clients.
    `mac`: of its interface; empty until the test bed has been made.
    """

    address: str
    networks: tuple[str, ...]
    mac: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint(Place):
    """Where a server is reached and where it may run.

    `address`, `port`: what clients connect to. `folder`: for its configuration, logs and pid file,
    inside the run folder.
    `stack`: what its programs are started by, see `run`.
    `upstream`: where the backends of a server run, such as those of a proxy; None if not possible.
    `neighbours`: MAC addresses of the load's interfaces on another host, the clients' side first;
    empty: the load is on this machine. `gateways`: the generators after the first one.
    """

    address: str
    port: int
    folder: Path
    stack: Stack
    upstream: BackendPlace | None = None
    neighbours: tuple[str, ...] = ()
    gateways: tuple[ClientGateway, ...] = ()

    def placement(self, workers: int = 1, flows: int = 0) -> Placement:
        """This place for a stack; `workers`, `flows`: see `Placement`."""
        listens = self.address, self.port
        where = self.namespace, self.interface, self.cpus, self.folder
        return Placement(*where, listens, workers, flows)

    def run(self, command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program here on its stack; `options` go to subprocess.Popen."""
        return self.stack.run(command, **options)
