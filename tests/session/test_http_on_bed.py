"""Trials of HTTP clients on the real test bed: where receive work goes, and what limits say."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackcost.analysis.cost.core_time import foreign_share, kernel_seconds
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.analysis.trial.thresholds import FOREIGN_LIMIT
from stackcost.bed.lock import RunLock
from stackcost.clients import Clients
from stackcost.collect.tracking import Tracking
from stackcost.contracts import metrics
from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import StackCheck
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import HttpClients
from stackcost.contracts.placement import Placement
from stackcost.contracts.stack import Stack, When
from stackcost.contracts.trial import Trial
from stackcost.experiment.http_schema import OVERHANG_S
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.host.compiler import compile_bpf
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import execute, run
from stackcost.host.signals import ending_signals_raise
from stackcost.host.steering import poll_threads
from stackcost.runs.loads.http import run_http_trial
from stackcost.servers.registry import server_class
from stackcost.session import http_session
from stackcost.session.http_session import HttpSession, open_http_session
from stackcost.session.progress import Progress
from stackcost.sides import server as local_server
from stackcost.stacks.onload.interface import NATIVE_XDP
from stackcost.stacks.onload.observe import CONTROL_PLANE, control_plane

NginxKernel = server_class("nginx/kernel")

pytestmark = pytest.mark.bed

PLAN = """
title: "one test"
servers: [nginx/kernel]
baseline: nginx/kernel
against: nginx/kernel
rounds: 1
cores: auto
server: {tuning: stock, worker_connections: 256}
workload: {clients: 16.0.0.1-16.0.0.4, server: 48.0.0.1, port: 80}
http:
  program: wrk
  processes: 1
  connections: 4
  warm_up_s: 0.5
  sustain_s: 1.5
  tests: [{name: only, measures: connections, body_bytes: 100}]
"""


class Attaching(Kernel):
    """Takes its interface by XDP when its first program starts, as Onload does over AF_XDP: the
    receive queue that is polled then was not there before.
    """

    name = "attaching"

    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        namespace, interface = self.placement.namespace, self.placement.interface
        image = self.placement.folder.parent / f"{interface}.o"
        image.write_bytes(compile_bpf(NATIVE_XDP))
        device = ["ip", "link", "set", "dev", interface, "xdpdrv"]
        execute(namespace, ["ethtool", "-K", interface, "gro", "off"])
        execute(namespace, [*device, "object", str(image), "section", "xdp"])
        return super().run(command, cpus, **options)


class WithControlPlane(Kernel):
    """Has a busy program of its own beside the server, named as Onload's control-plane server."""

    name = "with control plane"

    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        program = self.placement.folder.parent / CONTROL_PLANE
        program.symlink_to("/bin/sh")
        run(
            self.placement.namespace,
            [str(program), "-c", "while :; do :; done"],
            self.placement.cpus,
        )
        return super().run(command, cpus, **options)

    def processes(self) -> dict[str, int]:
        return control_plane(self.placement.namespace)

    def own_collectors(self) -> list[Collector]:
        return [Tracking(self.placement.namespace)]


class LooksLong(Kernel):
    """A stack of clients whose looks take as long as those at Onload on a slow host."""

    def __init__(self, placement: Placement):
        super().__init__(placement)
        self.name = "onload-wrk"
        self.lived: dict[str, bool] = {}

    def check_stack(self, when: When, processes: Mapping[str, int]) -> None:
        if when == "during":
            time.sleep(OVERHANG_S + 0.3)
        self.lived[when] = all(psutil.pid_exists(pid) and _runs(pid) for pid in processes.values())


def _runs(process: int) -> bool:
    return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)


@contextmanager
def session_in(folder: Path) -> Iterator[HttpSession]:
    plan = folder / "plan.yaml"
    plan.write_text(PLAN)
    experiment: Experiment = read_experiment(plan)
    with (
        RunLock(),
        ending_signals_raise(),
        open_http_session(NginxKernel, experiment, folder / "logs", Progress()) as session,
    ):
        yield session


def trial_of(session: HttpSession) -> Trial:
    trial = Trial("nginx/kernel", 0, 1, HttpClients(test="only"))
    run_http_trial(session, trial)
    return trial


def told_threads(session: HttpSession, interface: str) -> tuple[int, ...]:
    (end,) = (
        each
        for each in session.bed.describe()["receive_steering"]
        if each["interface"] == interface
    )
    return tuple(end["poll_threads"])


def test_receive_work_is_placed_after_a_stack_took_its_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attaching(name: str, place: Any) -> Stack:
        return Attaching(place)

    for module in (local_server, http_session):
        monkeypatch.setattr(module, "stack_of", attaching)
    with session_in(tmp_path) as session:
        bed = session.bed
        ends = [(bed.server_interface, bed.cpus.server), (bed.load_interface, bed.cpus.load)]
        trial = trial_of(session)
        for interface, cpus in ends:
            threads = poll_threads(interface)
            assert threads and told_threads(session, interface) == threads, interface
            assert all(os.sched_getaffinity(each) == {*cpus} for each in threads), interface
        assert trial.load.counted.requests > 0  # type: ignore[union-attr]


def test_clients_live_at_the_last_look_and_those_that_hang_after_a_fall_back_are_told_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their stack ends with them, so a look after their end sees nothing that carried them; wrk was
    seen to hang on Onload, after it had no route there.
    """

    def hang(clients: Clients) -> None:
        raise StackcostError("client 0 (wrk) did not end in time", "see its output")

    monkeypatch.setattr(http_session, "stack_of", lambda name, place: LooksLong(place))
    with session_in(tmp_path) as session:
        trial = trial_of(session)
        assert isinstance(session.clients_stack, LooksLong)
        assert session.clients_stack.lived == {"before": True, "during": True, "after": True}
        assert isinstance(trial.load, HttpClients) and not trial.load.ended_early
        monkeypatch.setattr(Clients, "wait", hang)
        with pytest.raises(StackcostError, match="in time; see its output"):
            trial_of(session)
        fallen = StackCheck("onload-wrk", "kernel", "no stack")
        monkeypatch.setattr(session.clients_stack, "stack_check", lambda: fallen)
        told = r"in time; it was carried by the kernel's stack instead of onload-wrk: no stack"
        with pytest.raises(StackcostError, match=told):
            trial_of(session)


def test_programs_and_collectors_of_a_stack_belong_to_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_server, "stack_of", lambda name, place: WithControlPlane(place))
    with session_in(tmp_path) as session:
        trial, cpus = trial_of(session), session.bed.cpus.server
        number = session.local_server.processes[CONTROL_PLANE]
    seen = Readings(trial, cpus)
    assert {metric for metric in Tracking.metrics if seen.samples(metric)}, "its own are read"
    taken = seen.by_label(metrics.TASK_TIME, "process")[str(number)]
    others = [s for s in trial.samples if s.labels.get("command") != CONTROL_PLANE[:15]]
    apart = Readings(replace(trial, samples=others), cpus)
    assert taken > FOREIGN_LIMIT * seen.phases["sustain"].length
    assert foreign_share(seen) == foreign_share(apart), "it is none of the others"
    cost = kernel_seconds(seen)
    assert (cost["user"] or 0.0) + (cost["system"] or 0.0) > taken


@pytest.mark.long
def test_a_server_without_free_descriptors_is_told_by_its_limits(tmp_path: Path) -> None:
    with session_in(tmp_path) as session:
        worker = psutil.Process(session.local_server.processes["worker-0"])
        open_now = {int(name) for name in os.listdir(f"/proc/{worker.pid}/fd")}
        free = min({*range(len(open_now) + 1)} - open_now)
        worker.rlimit(psutil.RLIMIT_NOFILE, (free, free))
        trial = trial_of(session)
    assert isinstance(trial.load, HttpClients) and trial.load.limits is not None
    files, queue = trial.load.limits.open_files["worker-0"], trial.load.limits.accept_queue
    assert files.now >= files.limit == free
    assert queue is not None and queue.limit == 511 and queue.now > 0
    found = flags_of(Readings(trial, session.bed.cpus.server))
    assert f"worker-0 had {files.now} open files; the limit is {files.limit}" in found
