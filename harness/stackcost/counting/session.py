"""A session whose bed, server and generator are in a counting guest."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from typing_extensions import override

from stackcost.contracts.collector import Phase
from stackcost.contracts.counts import StackCheck
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server
from stackcost.contracts.stack import KERNEL, When
from stackcost.contracts.wiring import LOAD_INTERFACE, LOAD_NAMESPACE, TO_SERVER
from stackcost.counting.bed import FIRST, NOT_SET, bed_script
from stackcost.counting.guest import CountingGuest, counting_guest
from stackcost.counting.kernel import get_kernel
from stackcost.counting.processes import mapped
from stackcost.counting.programs import qemu_version
from stackcost.counting.server import Engine, Peer, Program, server_in
from stackcost.counting.symbols import Symbols
from stackcost.experiment.schema import Experiment
from stackcost.host.namespace import find_program
from stackcost.host.timeouts import timeout_factor
from stackcost.remote.stub import Call, RemoteStub
from stackcost.servers.with_backend import WithBackend
from stackcost.session.progress import Progress
from stackcost.session.server_session import ServerSession
from stackcost.session.server_settings import server_settings, tunables_of
from stackcost.sides.server import RunningServer
from stackcost.stacks.mptcp import NAME as MPTCP
from stackcost.trex.client import TrexClient

ONLOAD = "onload"  # its module
SLOWNESS = 20.0  # factor for limits of the generator's client: an emulated generator answers late


class _InGuest(RemoteStub, RunningServer, of=RunningServer):
    """What a session asks of its server, of which its counts and its stack are read."""

    def __init__(self, server: Program | Peer) -> None:
        self.processes = server.processes
        self._stack = server.stack

    @override
    def check_stack(self, when: When) -> None:
        """The kernel's stack needs no check."""
        if self._stack:
            self._stack.check_stack(when, self.processes)

    @override
    def stack_check(self, idle: bool) -> StackCheck | None:
        """None of the kernel's."""
        return self._stack.stack_check() if self._stack else None

    @override
    def handle(self, call: Call) -> Any:
        return {} if call.method.__name__ in ("before_trial", "clocks") else None


@dataclass(slots=True, kw_only=True)
class CountingSession(ServerSession):
    """A server in a counting guest, with a generator that has its profile.

    `tasks`: names of the server's tasks. `processes`: their session.
    """

    guest: CountingGuest
    client: TrexClient
    tasks: Collection[str]
    processes: str
    described: dict[str, Any]

    def symbols(self) -> Symbols:
        """Functions by address, and what the server's processes have mapped now."""
        return Symbols(self.guest.functions, mapped(self.guest, self.processes))

    def check_parts(self) -> None:
        """The guest itself says when it has ended."""
        self.client.check()

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
    if why := why_not_counted(kind, experiment.server.stack, counted.files):
        raise StackcostError(why)
    if missing := kind.missing_program():
        progress.say(f"building {missing}, once; this takes some minutes")
        kind.build()
    folder = folder.resolve()  # the guest has another current folder
    folder.mkdir(parents=True, exist_ok=True)
    settings = server_settings(experiment, kind)
    workload = experiment.workload
    kernel = replace(get_kernel(counted.kernel), files=counted.files)
    modules = counted.modules
    if experiment.server.stack != KERNEL:
        kernel.require(ONLOAD)
        modules = [*modules, ONLOAD]
    with ExitStack() as opened:
        opened.enter_context(timeout_factor(max(SLOWNESS, experiment.timeout_factor)))
        guest = opened.enter_context(
            counting_guest(
                kernel,
                folder / "guest",
                progress.say,
                modules,
                counted.command_line,
            )
        )
        progress.say("test bed in the guest")
        backends = issubclass(kind, WithBackend)
        told = guest.line.run(bed_script(kind.kernel_stack, workload, settings.tier, backends))
        not_set = [line.removeprefix(NOT_SET) for line in told.splitlines() if NOT_SET in line]
        guest.line.run(counted.script)
        progress.say("server in the guest")
        server = server_in(guest, kind, settings, experiment, folder)
        opened.enter_context(server.started())
        progress.say("generator in the guest")
        near, far = TO_SERVER.ports
        ports = [replace(near, interface=f"packet:{LOAD_INTERFACE}"), far]
        generator = Engine(guest, LOAD_NAMESPACE, "generator", ports, folder, FIRST)
        client = opened.enter_context(generator.client())
        tunables = tunables_of(workload, settings.response_bytes)
        client.load_profile(experiment.load.profile, tunables)
        server.begin_load()
        yield CountingSession(
            experiment=experiment,
            serving=_InGuest(server),
            sampler=_NoSampler(),
            progress=progress,
            folder=folder,
            response_bytes=settings.response_bytes,
            guest=guest,
            client=client,
            tasks=server.tasks,
            processes=server.session,
            described={
                "test_bed": {
                    "counted": _conditions(guest) | {"settings_not_set": not_set},
                    "bed": TO_SERVER.words,
                },
                "server": {
                    "name": kind.name,
                    "command": server.command,
                    "program": program_of(server.command),
                    **({"stack": server.stack.describe()} if server.stack else {}),
                },
                "generator": {"program": "astf-engine", "command": generator.command},
            },
        )


def why_not_counted(kind: type[Server], stack: str = KERNEL, files: Path | None = None) -> str:
    """Why a system cannot be counted; empty if it can. `stack`: of the experiment's server.

    `files`: the folder that is put over the guest's files.
    """
    if kind.not_counted:
        return f"{kind.name} cannot be counted, because {kind.not_counted}"
    if stack == KERNEL or not kind.kernel_stack:
        return ""
    why = f"{kind.name} on {stack} cannot be counted"
    if stack == MPTCP:
        return f"{why}: the generator does not speak it"
    if issubclass(kind, WithBackend):
        return f"{why}: Onload has one interface in the guest, and its backends are behind another"
    if files is None:
        return (
            f"{why} without counted.files: a folder with Onload for the guest's kernel "
            "(docs/counting.md)"
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


def program_of(command: Sequence[str]) -> str:
    """A program by its file's content: a count is of this one. `env` only sets its variables."""
    name = next(word for word in command if word != "env" and "=" not in word)
    path = Path(find_program(name))
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


class _NoSampler:
    """Nothing is read periodically."""

    def __init__(self) -> None:
        self.samples: list[Any] = []
        self.readings: list[Any] = []

    def read_now(self) -> list[Any]:
        return []

    def read_often(self, interval_s: float) -> None:
        return

    def in_phase(self, phase: Phase, on: bool) -> None:
        return
