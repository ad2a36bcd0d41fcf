"""A session whose bed, server and generator are in a counting guest."""

import hashlib
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from typing_extensions import override

from stackcost.bed.network import INITIAL_WINDOW
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement
from stackcost.contracts.server import Server, ServerSettings
from stackcost.contracts.stack import When
from stackcost.contracts.wiring import (
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
    TO_SERVER,
)
from stackcost.counting.bed import FIRST, NEIGHBOUR, POLL_TASK, bed_script
from stackcost.counting.guest import SHARE, CountingGuest, counting_guest
from stackcost.counting.kernel import get_kernel
from stackcost.counting.line import forwarded
from stackcost.counting.programs import portable_engine, qemu_version
from stackcost.counting.symbols import Symbols
from stackcost.experiment.schema import Experiment
from stackcost.host.kernel_stack import Kernel
from stackcost.host.timeouts import timeout_factor
from stackcost.host.waiting import wait_until
from stackcost.remote.proxy import Call, Proxy
from stackcost.servers.probe import Response, fit_body, healthy, response_to
from stackcost.servers.with_backend import WithBackend
from stackcost.serving.local import RunningServer
from stackcost.session.progress import Progress
from stackcost.session.server_session import ServerSession
from stackcost.session.server_settings import server_settings, tunables_of
from stackcost.trex.client import TrexClient
from stackcost.trex.trex_config import TrexConfig

CORE = 0  # the only one
RPC_PORT, ASYNC_PORT = 4501, 4500
START_LIMIT_S = 300.0
SLOWNESS = 20.0  # factor for limits of the generator's client: an emulated generator answers late


class _InGuest(Proxy, RunningServer, of=RunningServer):
    """What a session asks of its server, of which nothing is read but its counts."""

    def __init__(self) -> None:
        self.processes = {}

    @override
    def handle(self, call: Call) -> Any:
        return {} if call.method.__name__ in ("before_trial", "clocks") else None


@dataclass(slots=True, kw_only=True)
class CountingSession(ServerSession):
    """A server in a counting guest, with a generator that has its profile.

    `tasks`: names of the server's tasks. `symbols`: functions by address.
    """

    guest: CountingGuest
    client: TrexClient
    tasks: Collection[str]
    symbols: Symbols
    described: dict[str, Any]

    def check_parts(self) -> None:
        """The guest itself says when it has ended."""
        self.client.check()

    def check_stack(self, when: When) -> None:
        """There is only the kernel's."""

    def describe(self) -> dict[str, Any]:
        """The set-up, for the manifest."""
        return self.described


@contextmanager
def open_counting_session(
    kind: type[Server], experiment: Experiment, folder: Path, progress: Progress
) -> Iterator[CountingSession]:
    """Boot a guest, and start server and generator in it; all ends with the guest.

    `folder`: for its files. StackcostError also for a system that cannot be counted.
    """
    counted = experiment.counted
    assert counted is not None
    if why := why_not_counted(kind):
        raise StackcostError(why)
    folder = folder.resolve()  # the guest has another current folder
    folder.mkdir(parents=True, exist_ok=True)
    settings = server_settings(experiment, kind)
    workload = experiment.workload
    engine = portable_engine()
    kernel = get_kernel(counted.kernel)
    with ExitStack() as opened:
        opened.enter_context(timeout_factor(max(SLOWNESS, experiment.timeout_factor)))
        guest = opened.enter_context(
            counting_guest(
                kernel,
                folder / "guest",
                progress.say,
                counted.modules,
                counted.command_line,
            )
        )
        progress.say("test bed in the guest")
        window = INITIAL_WINDOW[workload.tcp]
        guest.line.run(
            bed_script(str(workload.server), str(workload.client_network), window, settings.tier)
            + counted.script
        )
        progress.say("server in the guest")
        started = _Started(guest, kind, settings, experiment, folder)
        fit_body(settings.response_bytes, started.serve)
        progress.say("generator in the guest")
        config = TrexConfig(
            "generator",
            [replace(TO_SERVER.ports[0], interface=f"packet:{LOAD_INTERFACE}"), TO_SERVER.ports[1]],
            [CORE],
        )
        config.write(folder / "guest" / "generator.yaml")
        command = [
            *FIRST,
            str(engine),
            "--sleep",
            "--no-huge",
            "--cfg",
            f"{SHARE}/generator.yaml",
            "-c",
            "1",
        ]
        begun = _begin(guest, LOAD_NAMESPACE, command, f"{SHARE}/generator.log")
        _wait_for(guest, begun, LOAD_NAMESPACE, "127.0.0.1", RPC_PORT, "the generator", folder)
        rpc = opened.enter_context(forwarded(guest.line, LOAD_NAMESPACE, RPC_PORT))
        events = opened.enter_context(forwarded(guest.line, LOAD_NAMESPACE, ASYNC_PORT))
        client = opened.enter_context(TrexClient(rpc_port=rpc, async_port=events))
        client.connect()
        client.reset()
        tunables = tunables_of(workload, settings.response_bytes)
        client.load_profile(experiment.load.profile, tunables)
        guest.line.run(NEIGHBOUR)
        yield CountingSession(
            experiment=experiment,
            serving=_InGuest(),
            sampler=_NoSampler(),
            progress=progress,
            folder=folder,
            response_bytes=settings.response_bytes,
            guest=guest,
            client=client,
            tasks=started.tasks,
            symbols=Symbols(guest.functions, started.maps),
            described={
                "test_bed": {"counted": _conditions(guest), "bed": TO_SERVER.words},
                "server": {
                    "name": kind.name,
                    "command": started.command,
                    "program": _program(started.command[0]),
                },
                "generator": {"program": "astf-engine", "command": command},
            },
        )


def why_not_counted(kind: type[Server]) -> str:
    """Why a system cannot be counted; empty if it can."""
    if kind.as_program is Server.as_program or issubclass(kind, WithBackend):
        return (
            f"{kind.name} cannot be counted: only a server that is one program on the kernel's "
            "stack can"
        )
    return ""


def _conditions(guest: CountingGuest) -> dict[str, Any]:
    """Everything that a count may depend on beside the experiment."""
    return {
        "kernel": guest.kernel.release,
        "kernel_command_line": guest.line.run("cat /proc/cmdline").strip(),
        "clock_source": guest.line.run(
            "cat /sys/devices/system/clocksource/clocksource0/current_clocksource"
        ).strip(),
        "mitigations": guest.line.run(
            "grep -H . /sys/devices/system/cpu/vulnerabilities/* | sed 's|.*/||'"
        ).splitlines(),
        "modules": sorted(guest.line.run("cut -d' ' -f1 /proc/modules").split()),
        "qemu": qemu_version(),
        "command": list(guest.command),
    }


def _program(path: str) -> str:
    """A program by its file's content: a count is of this one."""
    return f"{Path(path).name} {hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]}"


class _NoSampler:
    """Nothing is read periodically."""

    def __init__(self) -> None:
        self.samples: list[Any] = []
        self.readings: list[Any] = []

    def read_now(self) -> list[Any]:
        return []

    def read_often(self, names: Collection[str], interval_s: float) -> None:
        return

    def trace_system_calls(self, on: bool) -> None:
        return

    def follow(self, on: bool) -> None:
        return


# A server may open a file for each request, which must not ask the machine for it.
_IN_MEMORY = """set -e
mkdir -p /run/copied
cp -a {folder} /run/copied/
mount -t tmpfs none {folder}
cp -a /run/copied/*/. {folder}
rm -r /run/copied
"""


class _Started:
    """The server's program in the guest; started again with another length of its body."""

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
        self._session = ""
        self.command: list[str] = []
        self.tasks: set[str] = set()
        self.maps: dict[str, str] = {}

    def serve(self, body_bytes: int) -> int:
        """Start it with a body of this length; returns that of the whole response."""
        line, workload = self._guest.line, self._experiment.workload
        if self._session:
            line.run(f"pkill -KILL -s {self._session}; true")
        self._starts += 1
        # A new folder each time: the guest keeps what it has seen of the old one.
        own = self._folder / f"server-{self._starts}"
        own.mkdir()
        address, port = str(workload.server), workload.port
        place = SERVER_NAMESPACE, SERVER_INTERFACE, (CORE,)
        stack = Kernel(Placement(*place, own, (address, port)))
        endpoint = Endpoint(*place, address, port, own, stack)
        self.command = self._kind.make(endpoint, self._settings).as_program(body_bytes)
        line.run(_IN_MEMORY.format(folder=quote(str(own))))
        self._session = _begin(
            self._guest, SERVER_NAMESPACE, self.command, f"{SHARE}/server.log", own
        )
        _wait_for(
            *(self._guest, self._session, SERVER_NAMESPACE, address, port),
            *(self._kind.name, self._folder),
        )
        response = healthy(self._ask(address, port), self._kind.name, own)
        self._look()
        return response.length

    def _ask(self, address: str, port: int) -> Response:
        with self._guest.line.connection(SERVER_NAMESPACE, address, port) as connection:
            return response_to(connection, self._settings.request)

    def _look(self) -> None:
        """The names and the mapped files of its tasks."""
        told = self._guest.line.run(f"ps -L -s {self._session} -o comm= -o pid=")
        of = [row.rsplit(None, 1) for row in told.splitlines()]
        self.tasks = {name for name, _ in of} | {POLL_TASK}
        self.maps = {name: self._guest.line.run(f"cat /proc/{pid}/maps") for name, pid in of}


def _begin(
    guest: CountingGuest, namespace: str, command: list[str], log: str, folder: Path | None = None
) -> str:
    """Start a program that goes on; returns its session."""
    words = " ".join(map(quote, command))
    where = f"cd {quote(str(folder))} && " if folder else ""
    return guest.line.run(
        f"{where}ip netns exec {namespace} setsid {words} </dev/null >{log} 2>&1 & echo $!"
    ).strip()


def _wait_for(
    guest: CountingGuest,
    process: str,
    namespace: str,
    address: str,
    port: int,
    what: str,
    folder: Path,
) -> None:
    """Wait until a program that was begun listens; StackcostError if it has ended before."""

    def listens() -> bool:
        try:
            with guest.line.connection(namespace, address, port):
                return True
        except StackcostError:
            if "ended" not in guest.line.run(f"[ -d /proc/{process} ] || echo ended"):
                return False
        raise StackcostError(f"{what} has ended in the counting guest: {_said(guest, folder)}")

    if not wait_until(listens, START_LIMIT_S, 0.2):
        raise StackcostError(f"{what} did not listen in the counting guest: {_said(guest, folder)}")


def _said(guest: CountingGuest, folder: Path) -> str:
    """The end of what programs of the guest printed."""
    guest.line.run("sync")
    logs = [path.read_text(errors="replace") for path in folder.glob("guest/*.log")]
    return " ".join(" ".join(text.split())[-500:] for text in logs)
