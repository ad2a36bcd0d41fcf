"""A session for HTTP clients: one server on a new test bed, with client addresses."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stackcost.bed.client_addresses import FIRST_USER, addresses_of, client_addresses
from stackcost.bed.local import LocalTestbed
from stackcost.clients import Addresses, Clients
from stackcost.collect.cpu_account import Detail
from stackcost.collect.served import Served
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement
from stackcost.contracts.server import Server
from stackcost.contracts.stack import Stack
from stackcost.experiment.http_schema import HttpLoad
from stackcost.experiment.schema import Experiment
from stackcost.session.progress import Progress
from stackcost.session.server_session import ServerSession, running_server
from stackcost.stacks import stack_of


@dataclass(slots=True, kw_only=True)
class HttpSession(ServerSession):
    """A session for trials of HTTP clients. `clients`: those of the current trial."""

    http: HttpLoad
    addresses: Addresses
    clients_stack: Stack
    clients: Clients | None = field(default=None)

    def describe(self) -> dict[str, Any]:
        """The set-up, for the manifest."""
        programs = sorted({self.http.program_of(test) for test in self.http.tests})
        generator = {
            "program": ", ".join(programs),
            "processes": self.http.processes,
            "stack": self.clients_stack.describe(),
            "addresses": list(self.addresses.addresses),
        }
        return ServerSession.describe(self) | {"generator": generator}


@contextmanager
def open_http_session(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    progress: Progress,
) -> Iterator[HttpSession]:
    """Start test bed and server, and set the client addresses; undo everything on exit.

    `folder` takes the configuration and logs of the server and of the clients.
    """
    http, workload = experiment.http, experiment.workload
    if http is None or not (kind.kernel_stack or kind.passes_every_port):
        raise StackcostError(
            f"{kind.name} cannot serve HTTP clients, which are programs on the kernel's stack",
            "use a load of profiles (load, memory) in the experiment instead of http",
        )
    if kind.passes_every_port and experiment.dut.server == "engine":
        raise StackcostError(
            f"HTTP clients need a server on the kernel's stack behind {kind.name}",
            "set dut.server: nginx in the experiment",
        )
    own = addresses_of(workload.clients, http.most_processes)
    with (
        running_server(kind, experiment, folder, progress, wanted_hugepages=0) as serving,
        client_addresses(own, str(workload.server), serving.wiring),
        _ready(http, serving.bed, folder) as clients_stack,
        serving.sampling([Served(serving.requests_served)], Detail.SOFTIRQS) as sampler,
    ):
        yield HttpSession(
            experiment=experiment,
            serving=serving,
            sampler=sampler,
            progress=progress,
            folder=folder,
            http=http,
            addresses=Addresses(FIRST_USER, own),
            clients_stack=clients_stack,
        )


@contextmanager
def _ready(http: HttpLoad, bed: LocalTestbed, folder: Path) -> Iterator[Stack]:
    """The prepared stack of the clients; it starts them in each trial."""
    cpus, place = bed.cpus.load, folder / "clients"
    stack = stack_of(
        http.stack,
        Placement(bed.load_namespace, bed.load_interface, cpus, place, workers=http.most_processes),
    )
    try:
        stack.prepare()
        yield stack
    finally:
        stack.release()
