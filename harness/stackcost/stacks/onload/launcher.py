"""Programs on Onload: prepared in the order that works, started, checked, and released."""

import os
import resource
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import NOT_SEEN, StackCheck, Usage
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement
from stackcost.contracts.stack import KERNEL, MOMENTS, Stack, When
from stackcost.host.liveness import descendants
from stackcost.host.namespace import find_program, run
from stackcost.stacks.onload.counters import OnloadCounters
from stackcost.stacks.onload.failures import find_failure
from stackcost.stacks.onload.installation import Installation
from stackcost.stacks.onload.interface import (
    end_orphans,
    is_af_xdp,
    let_go,
    load_modules,
    register,
)
from stackcost.stacks.onload.objections import Objection, objections
from stackcost.stacks.onload.observe import (
    Observation,
    accept_queue,
    control_plane,
    kernel_log,
    observe,
    said,
)
from stackcost.stacks.onload.profile import Profile, settle

PREFIX = "onload-"
PROFILE_FILE = "onload.opf"
OBSERVATION_TRIES = 3


class Onload(Stack):
    """Onload with one profile at one place.

    `installation`: where its parts are. What its programs' connections are carried by is looked at
    three times in each trial; a trial counts as Onload's only when all three observations say so.
    `counted`: instructions are counted, so it does not spin.
    """

    congestion_control = "Onload's own"

    def __init__(
        self,
        placement: Placement,
        profile: Profile,
        installation: Installation | None = None,
        counted: bool = False,
    ):
        super().__init__(placement)
        self.name = PREFIX + profile.name
        self._installation = installation or Installation()
        self._profile = profile
        self._counted = counted
        self._settings = settle(profile, placement.workers, False, counted)
        self._af_xdp = False
        self._log_before: set[str] = set()
        self._before: Observation | None = None
        self._observations: dict[str, Any] = {}
        self._against: dict[When, list[Objection]] = {}
        self._started: list[subprocess.Popen[Any]] = []

    def prepare(self) -> None:
        """Modules, then the interface; StackcostError for what would fail, fall back or do harm."""
        self._check_place()
        self._installation.check()
        namespace, interface = self.placement.namespace, self.placement.interface
        load_modules(self._installation)
        self._af_xdp = is_af_xdp(namespace, interface)
        settled = settle(self._profile, self.placement.workers, self._af_xdp, self._counted)
        files = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._settings = settled.within_files(*files, self.placement.flows)
        self._check_room()
        if self._af_xdp:
            self._check_one_stack()
            register(self._installation, namespace, interface)
        end_orphans(namespace)

    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        """Start it by `onload`, which becomes the program, with the profile's file beside it.

        Its limit of open files is higher by the closed sockets that Onload keeps, so that it has
        as many for its connections as on the kernel's stack.
        """
        profile = self._write_profile(Path(options.get("cwd") or "."))
        self._log_before = set(kernel_log())
        environment = dict(options.pop("env", os.environ)) | {"EF_NO_FAIL": "0"}
        program = find_program(command[0])
        onload = [find_program("onload"), "-p", profile, program, *command[1:]]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = min(hard, soft + self.kept_sockets)
        started = ["prlimit", f"--nofile={files}:{hard}", *onload]
        process = run(
            self.placement.namespace,
            started,
            cpus or self.placement.cpus,
            env=environment,
            **options,
        )
        self._started = [*(each for each in self._started if each.returncode is None), process]
        return process

    def check_stack(self, when: When, processes: Mapping[str, int]) -> None:
        """Observe, and keep what speaks against Onload.

        An observation takes time, in which programs open and close sockets, and a tool may find a
        stack busy. So it is repeated while something speaks against Onload: what is true stays.
        """
        if when == "before":
            self._before, self._observations, self._against = None, {}, {}
        for _ in range(OBSERVATION_TRIES):
            seen = observe(self._installation, self.placement.namespace, processes)
            against = objections(when, self._before or seen, seen, self.placement.listens)
            if not against:
                break
        self._before = self._before or seen
        self._against[when] = against
        self._observations[when] = {
            "objections": [each.words for each in against],
            "sockets": {role: asdict(each) for role, each in seen.sockets.items()},
            "onload": dict(seen.onload) if seen.onload else None,
            "kernel": dict(seen.kernel),
        }

    def stack_check(self, idle: bool = False) -> StackCheck:
        """`carried` is this stack only when there are three observations and none has an objection.

        It is the kernel's only when an observation shows that: a program that has ended, or that
        accepts nothing, is seen on neither.
        """
        against = [
            (f"{when} the load: {each.words}", each.for_kernel)
            for when in (MOMENTS[:1] if idle else MOMENTS)
            for each in self._against.get(when, [Objection("not observed")])
        ]
        observations: dict[str, object] = dict(self._observations)
        if not against:
            return StackCheck(self.name, self.name, observations=observations)
        failure = find_failure(self._new_in_log())
        why = [*([failure.what] if failure else []), *(words for words, _ in against)]
        carried = KERNEL if any(for_kernel for _, for_kernel in against) else NOT_SEEN
        return StackCheck(self.name, carried, "; ".join(why), observations)

    def accept_queue(self, namespace: str, port: int) -> Usage | str:
        """Of Onload's own listeners: the kernel has one of the same port, which stays empty."""
        return accept_queue(said(namespace, ["orm_json", "sockets"]), port)

    @property
    def kept_sockets(self) -> int:
        """Sockets that it keeps in its cache, for the next connections."""
        return self._settings.cached_sockets

    def processes(self) -> dict[str, int]:
        """Its control-plane server, which Onload's module starts for the place's namespace."""
        return control_plane(self.placement.namespace)

    def own_collectors(self) -> list[Collector]:
        """What it polled, in the kernel and in user space, and what it found."""
        return [OnloadCounters(self.placement.namespace, self._programs)]

    def explain(self, error: StackcostError) -> StackcostError:
        """By the table of failures, from the program's words and the kernel's log."""
        failure = find_failure([*self._new_in_log(), *self._words(), str(error)])
        if failure is None:
            return error
        return StackcostError(f"{self.name}: {failure.what} ({error.what})", failure.hint)

    def release(self) -> None:
        """Let go of the interface when it was registered; the last one unloads the modules."""
        let_go(self._installation, self.placement.namespace, self.placement.interface)

    def describe(self) -> dict[str, Any]:
        """The profile with its adjustments, and how the interface is reached."""
        return {"name": self.name, "af_xdp": self._af_xdp, **self._settings.describe()}

    def _check_place(self) -> None:
        listens = self.placement.listens
        if self.placement.interface == "lo" or (listens and ip_address(listens[0]).is_loopback):
            raise StackcostError(
                "Onload carries nothing over loopback, it would go through the kernel",
                "put client and server into namespaces of their own, joined by a link",
            )

    def _check_room(self) -> None:
        room, wanted = self._settings.room(), self.placement.flows
        if wanted > room.flows:
            raise StackcostError(
                f"{self.name} is to hold {wanted:,} open flows, and has room for at most "
                f"{room.flows:,} ({room.by})",
                "lower memory.open_flows of the experiment",
            )

    def _write_profile(self, current: Path) -> str:
        """Write the profile's file; its path from the folder that is current for the program."""
        folder = self.placement.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PROFILE_FILE).write_text(self._settings.text())
        path = os.path.join(".", os.path.relpath(folder / PROFILE_FILE, current))
        if set(path) & set(" ,"):
            raise StackcostError(
                f"onload takes a space or comma in {path} to stand between profiles",
                "choose another --results, or its parent as the current folder",
            )
        return path

    def _check_one_stack(self) -> None:
        """Each client process has a stack of its own, a server's processes share theirs."""
        if self.placement.listens is None and self.placement.workers > 1:
            raise StackcostError(
                f"{self.placement.workers} client processes need as many virtual interfaces, "
                f"and by AF_XDP {self.placement.interface} has one",
                "http.processes: 1 in the experiment, or a NIC with Onload's own driver",
            )

    def _programs(self) -> set[int]:
        """Process ids of what was started and lives, with its children."""
        started = [each.pid for each in self._started]
        return {*started, *(child.pid for each in started for child in descendants(each))}

    def _new_in_log(self) -> list[str]:
        return [line for line in kernel_log() if line not in self._log_before]

    def _words(self) -> list[str]:
        """The programs' own, from the logs in their folder."""
        texts = [path.read_text(errors="replace") for path in self.placement.folder.glob("*.log")]
        return [line for text in texts for line in text.splitlines()]
