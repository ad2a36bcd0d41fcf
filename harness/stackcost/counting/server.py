"""The server in a counting guest: a program on a stack, or the ASTF peer."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shlex import quote

from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.placement import Placement
from stackcost.contracts.server import Server, ServerSettings
from stackcost.contracts.stack import KERNEL
from stackcost.contracts.wiring import LOAD_NAMESPACE, SERVER_INTERFACE, SERVER_NAMESPACE, Port
from stackcost.counting.bed import (
    BACKEND_PLACE,
    KERNEL_CLIENT,
    NEIGHBOUR,
    NO_KERNEL_CLIENT,
    POLL_TASKS,
    WHOLE_CHECKSUMS,
)
from stackcost.counting.guest import SHARE, CountingGuest
from stackcost.counting.line import forwarded
from stackcost.counting.processes import begin, wait_for
from stackcost.counting.stack import GuestStack, guest_stack
from stackcost.experiment.schema import Experiment
from stackcost.host.kernel_stack import Kernel
from stackcost.servers.backend import NginxBackend
from stackcost.servers.probe import Response, fit_body, healthy, response_to
from stackcost.servers.with_backend import WithBackend
from stackcost.trex.client import TrexClient
from stackcost.trex.portable_engine import portable_engine
from stackcost.trex.trex_config import TrexConfig

CORE = 0  # the only one
RPC_PORT, ASYNC_PORT = 4501, 4500
NO_CLIENTS = 0  # client mask: no port opens connections
SERVES = "serve-0"  # the engine's data thread where no port opens connections


def server_in(
    guest: CountingGuest,
    kind: type[Server],
    settings: ServerSettings,
    experiment: Experiment,
    folder: Path,
) -> "Program | Peer":
    """The server of an experiment, not started. `folder`: for its files."""
    if kind.serves_profile:
        return Peer(guest, settings, folder)
    return Program(guest, kind, settings, experiment, folder)


# A server may open a file for each request, which must not ask the machine for it.
_IN_MEMORY = """set -e
mkdir -p /run/copied
cp -a {folder} /run/copied/
mount -t tmpfs none {folder}
cp -a /run/copied/*/. {folder}
rm -r /run/copied
"""


class Program:
    """A server that is one program, on a stack or with its own, and its backends. They are started
    again with another length of the body.

    `tasks`: their names. `session`: of its processes. `processes`: its ids, by role. `stack`: that
    takes the kernel's place; None: there is none.
    """

    def __init__(
        self,
        guest: CountingGuest,
        kind: type[Server],
        settings: ServerSettings,
        experiment: Experiment,
        folder: Path,
    ):
        self._guest = guest
        self._kind = kind
        self._settings = settings
        self._experiment = experiment
        self._folder = folder
        self._starts = 0
        self.session = ""
        self._backends: list[str] = []  # their sessions
        self.command: list[str] = []
        self.tasks: set[str] = set()
        self.processes: dict[str, int] = {}
        self.stack: GuestStack | None = None

    @contextmanager
    def started(self) -> Iterator[None]:
        """Start it with the body that the experiment's response has; it ends with the guest."""
        name = self._experiment.server.stack
        with ExitStack() as opened:
            if name != KERNEL:
                self._guest.line.run(WHOLE_CHECKSUMS)
                own = self._folder / "stack"
                ready = guest_stack(self._guest, name, self._place(own), self._folder)
                self.stack = opened.enter_context(ready)
            if not self._kind.kernel_stack:
                service, _ = self._address
                self._guest.line.run(KERNEL_CLIENT.format(service=service))
            fit_body(self._settings.response_bytes, self._serve)
            if not self._kind.kernel_stack:
                self._guest.line.run(NO_KERNEL_CLIENT)
            yield

    def begin_load(self) -> None:
        """Before the first load: the kernel has its neighbour's address for ever."""
        if self._kind.kernel_stack:
            self._guest.line.run(NEIGHBOUR)

    def _serve(self, body_bytes: int) -> int:
        """Start it with a body of this length; returns that of the whole response."""
        self._starts += 1
        # A new folder each time: the guest keeps what it has seen of the old one.
        own = self._folder / f"server-{self._starts}"
        own.mkdir()
        place = self._place(own)
        address, port = self._address
        where = SERVER_NAMESPACE, SERVER_INTERFACE, (CORE,)
        endpoint = Endpoint(*where, address, port, own, Kernel(place), BACKEND_PLACE)
        server = self._kind.make(endpoint, self._settings)
        self.command = server.as_program(body_bytes)
        backends = server.backends_as_programs() if isinstance(server, WithBackend) else []
        commands = [each.as_program() for each in backends]
        self._guest.line.run(_IN_MEMORY.format(folder=quote(str(own))))
        self._begin_backends(backends, commands)
        self._begin(own)
        wait_for(
            *(self._guest, self.session, self._asked_from, address, port),
            *(self._kind.name, self._folder),
        )
        response = healthy(self._ask(address, port), self._kind.name, own)
        self._look()
        return response.length

    def _begin_backends(
        self, backends: Sequence[NginxBackend], commands: Sequence[list[str]]
    ) -> None:
        """Start them, after those before have ended."""
        for session in self._backends:
            self._guest.line.run(f"pkill -KILL -s {session}; true")
        where = BACKEND_PLACE.namespace
        self._backends = [
            begin(self._guest, where, command, f"{SHARE}/{each.folder.name}.log", each.folder)
            for each, command in zip(backends, commands, strict=True)
        ]
        for each, session in zip(backends, self._backends, strict=True):
            listens = where, BACKEND_PLACE.address, each.port
            wait_for(self._guest, session, *listens, "a backend", self._folder)

    def _begin(self, own: Path) -> None:
        """Start it, after the one before has ended."""
        log = f"{SHARE}/server.log"
        if self.stack:
            self.session = str(self.stack.start(self.command, own, Path(log)))
            return
        if self.session:
            self._guest.line.run(f"pkill -KILL -s {self.session}; true")
        self.session = begin(self._guest, SERVER_NAMESPACE, self.command, log, own)

    @property
    def _asked_from(self) -> str:
        return SERVER_NAMESPACE if self._kind.kernel_stack else LOAD_NAMESPACE

    @property
    def _address(self) -> tuple[str, int]:
        workload = self._experiment.workload
        return str(workload.server), workload.port

    def _place(self, folder: Path) -> Placement:
        return Placement(SERVER_NAMESPACE, SERVER_INTERFACE, (CORE,), folder, self._address)

    def _ask(self, address: str, port: int) -> Response:
        with self._guest.line.connection(self._asked_from, address, port) as connection:
            return response_to(connection, self._settings.request)

    def _look(self) -> None:
        """The names of its tasks."""
        told = self._guest.line.run(f"ps -L -s {self.session} -o comm= -o pid=")
        of = [row.rsplit(None, 1) for row in told.splitlines()]
        self.tasks = {name for name, _ in of} | POLL_TASKS
        self.processes = {f"{name} {pid}": int(pid) for name, pid in of}


class Peer:
    """The ASTF peer: a second engine, which has its frames from a packet socket and sleeps until
    one comes. `tasks`, `session`: as of a program. What else the engine's process does is for its
    client, and is not the server's.
    """

    def __init__(self, guest: CountingGuest, settings: ServerSettings, folder: Path):
        self._guest = guest
        self._settings = settings
        self._folder = folder
        self.command: list[str] = []
        self.tasks = {SERVES} | POLL_TASKS
        self.session = ""
        self.processes: dict[str, int] = {}
        self.stack: GuestStack | None = None  # it has its own

    @contextmanager
    def started(self) -> Iterator[None]:
        """Start it with the load's profile; it ends with the guest, and its client here."""
        ports = [Port("dummy"), Port(f"packet:{SERVER_INTERFACE}", SERVER_ADDRESS, LOAD_ADDRESS)]
        engine = Engine(self._guest, SERVER_NAMESPACE, "peer", ports, self._folder)
        self.command = engine.command
        self.session = engine.process
        with engine.client() as client:
            client.load_profile(self._settings.profile, dict(self._settings.tunables))
            client.start(mult=1, client_mask=NO_CLIENTS)
            yield

    def begin_load(self) -> None:
        """The engine keeps its neighbour's address by itself."""


class Engine:
    """astf-engine in a namespace of the guest. It begins when it is made."""

    def __init__(
        self,
        guest: CountingGuest,
        namespace: str,
        name: str,
        ports: list[Port],
        folder: Path,
        first: tuple[str, ...] = (),
    ):
        self._guest, self._namespace = guest, namespace
        TrexConfig(name, ports, [CORE]).write(folder / "guest" / f"{name}.yaml")
        words = ["--sleep", "--no-huge", "--cfg", f"{SHARE}/{name}.yaml", "-c", "1"]
        self.command = [*first, str(portable_engine()), *words]
        self.process = begin(guest, namespace, self.command, f"{SHARE}/{name}.log")
        wait_for(guest, self.process, namespace, "127.0.0.1", RPC_PORT, f"the {name}", folder)

    @contextmanager
    def client(self) -> Iterator[TrexClient]:
        """TRex's client, here, that has its ports."""
        with (
            forwarded(self._guest.line, self._namespace, RPC_PORT) as rpc,
            forwarded(self._guest.line, self._namespace, ASYNC_PORT) as events,
            TrexClient(rpc_port=rpc, async_port=events) as client,
        ):
            client.connect()
            client.reset()
            yield client
