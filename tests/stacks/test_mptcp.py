"""Multipath TCP: what its counters say of a trial, and a run with second subflows on the bed."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stackcost.analysis.readings import Readings
from stackcost.bed.network import existing_namespaces
from stackcost.contracts import metrics
from stackcost.contracts.counts import NOT_SEEN
from stackcost.contracts.load import HttpClients
from stackcost.contracts.placement import Placement
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.host.kernel_stack import Kernel
from stackcost.host.mptcp import refused
from stackcost.report.results.computed import summarise_again
from stackcost.runs.comparison import run_experiment
from stackcost.stacks import mptcp

IPPROTO_MPTCP = 262  # include/uapi/linux/in.h; socket.IPPROTO_MPTCP where Python knows it


@pytest.mark.parametrize(
    ("answered", "fell_back", "joined", "carried"),
    [
        (20, 0, 20, "mptcp"),
        (20, 1, 19, "kernel"),
        (0, 0, 0, NOT_SEEN),
        (20, 0, 0, NOT_SEEN),
    ],
)
@pytest.mark.parametrize("listens", [None, ("48.0.0.1", 80)])
def test_it_is_mptcp_if_none_fell_back_and_subflows_were_joined(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    listens: tuple[str, int] | None,
    answered: int,
    fell_back: int,
    joined: int,
    carried: str,
) -> None:
    names, grown = mptcp.SERVER if listens else mptcp.CLIENT, [0, 0, 0]

    def said(namespace: str, command: list[str]) -> str:
        values = " ".join(str(7 + each) for each in grown)
        return f"MPTcpExt: {' '.join(names)}\nMPTcpExt: {values}\n"

    monkeypatch.setattr(mptcp, "execute", said)
    stack = mptcp.Mptcp(Placement("a", "b", (0,), tmp_path, listens=listens))
    stack.check_stack("before", {})
    assert stack.stack_check(idle=True).as_wanted
    grown[:] = [answered, fell_back, joined]
    stack.check_stack("after", {})
    check = stack.stack_check()
    assert check.carried == carried and bool(check.why) != check.as_wanted
    assert check.observations == dict(zip(names, grown, strict=True))


def test_a_program_has_sockets_of_mptcp_in_any_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a run whose path has a space, it once had those of TCP."""
    if why := refused():
        pytest.skip(why)

    def here(
        self: Kernel, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        return subprocess.Popen(command, **options)

    monkeypatch.setattr(Kernel, "run", here)
    folder = tmp_path / "my runs: first"
    stack = mptcp.Mptcp(Placement("a", "b", (0,), folder, listens=("48.0.0.1", 80)))
    stack.prepare()
    asks = "import socket as s; print(s.socket().getsockopt(s.SOL_SOCKET, s.SO_PROTOCOL))"
    program = stack.run([sys.executable, "-c", asks], stdout=subprocess.PIPE, text=True)
    said, _ = program.communicate(timeout=60)
    assert int(said) == IPPROTO_MPTCP
    stack.release()
    stack.release()


@pytest.mark.bed
@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_second_subflow_of_every_connection_is_measured(tmp_path: Path) -> None:
    if why := refused():
        pytest.skip(why)
    experiment = read_experiment(EXPERIMENTS / "mptcp.yaml", quick=True)
    experiment = experiment.model_copy(update={"rounds": 1})
    run = run_experiment(experiment, "mptcp", tmp_path / "my runs", [], Console(quiet=True))
    summarise_again(run)
    assert existing_namespaces() == []
    servers = {server["name"]: server["levels"] for server in run.summary()["servers"]}
    assert list(servers) == ["nginx/kernel", "nginx/mptcp"]
    figures = {level["test"]: level["figures"] for level in servers["nginx/mptcp"]}
    trials = {
        trial.load_of(HttpClients).test: trial
        for trial in run.trials()
        if trial.server == "nginx/mptcp"
    }
    assert len(trials) == 3
    for name, count in (("short", 0), ("held-200", 200), ("held-1000", 1000)):
        assert figures[name]["server_cpu_total"]["median"] > 0 == figures[name]["failed"]["median"]
        for check, names in (
            (trials[name].stack_check, mptcp.SERVER),
            (trials[name].traffic.stack_check, mptcp.CLIENT),
        ):
            assert check is not None and check.as_wanted
            answered, fell_back, joined = (check.observations[each] for each in names)
            assert answered > 0 == fell_back and 0 < joined <= answered
            assert not count or answered == joined == count
        sockets = Readings(trials[name]).level(metrics.SLAB_ACTIVE, cache="MPTCP")
        assert sockets is not None and sockets >= 2 * count, "of both ends"
    # A response that waits for a retransmission takes 200 ms: 50 connections/s of ten at once.
    assert figures["short"]["http.rate"]["median"] > 500
