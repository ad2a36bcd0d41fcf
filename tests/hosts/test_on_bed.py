"""A server on another host that is reached by SSH: figures, and every fault with its message.

The hosts are namespaces of this machine (`tests.hosts.lab`).
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackcost.analysis.cost.cpu import MICROSECONDS, uncorrected_total
from stackcost.analysis.cost.flows import completed_in
from stackcost.analysis.readings import Readings
from stackcost.collect.network import ESTABLISHED
from stackcost.collect.softnet import PROCESSED
from stackcost.contracts import metrics
from stackcost.contracts.load import ConstantLoad, HeldFlows
from stackcost.contracts.trial import CUT_SHORT, Trial
from stackcost.host.waiting import wait_until
from stackcost.store import RunFolder
from tests.hosts.lab import LIMIT_S, NGINX_ALONE, NICS, Lab

pytestmark = pytest.mark.bed
STACKCOST = str(Path(sys.executable).with_name("stackcost"))
CONTROL = [sys.executable, str(Path(__file__).with_name("control.py"))]
PLAN = NGINX_ALONE | {
    "title": "nginx on another host",
    "load": {
        "profile": "http_program.py",
        "offered_cps": [500],
        "warm_up_s": 1,
        "sustain_s": 2,
        "drain_s": 5,
    },
    "memory": {
        "profile": "http_hold.py",
        "open_flows": [0, 400],
        "open_cps": 2000,
        "settle_s": 0.3,
        "read_s": 0.5,
    },
}


def plan(
    lab: Lab,
    name: str,
    interfaces: Sequence[str] = NICS[:1],
    server: str = "",
    flows: bool = True,
    **changed: Any,
) -> Path:
    """The file of an experiment. `changed`: of host b; `load`: of the section load.

    `server`: in place of nginx. `flows`: it holds open flows, too.
    """
    whole: dict[str, Any] = dict(PLAN)
    whole["load"] = whole["load"] | changed.pop("load", {})
    whole["hosts"] = lab.hosts(**changed)
    whole["bed"] = {
        "server": {"host": "b", "interfaces": list(interfaces)},
        "load": {"interfaces": list(NICS[: len(interfaces)])},
    }
    if server:
        whole |= {"servers": [server], "baseline": server, "against": server}
    if not flows:
        del whole["memory"]
    file = lab.folder / f"{name}.yaml"
    file.write_text(json.dumps(whole))
    return file


def errors(lab: Lab, results: str, *plans: Path) -> list[dict[str, str] | None]:
    done = lab.c.run([*CONTROL, results, *map(str, plans)])
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_undone(lab: Lab) -> None:
    """Both hosts are as they were."""
    for host in (lab.c, lab.b):
        assert "nic0" in host.said("ip", "-br", "link"), host.name
        assert host.said("ls", "/run/netns") == "", host.name
        left = host.said("ls", "/run/stackcost").split()
        assert left == ["lock"], host.name
    assert not agents(lab)


def agents(lab: Lab) -> list[psutil.Process]:
    """Processes of the agent on host b."""
    found = []
    for each in psutil.Process(lab.b.pid).children(recursive=True) + list(psutil.process_iter()):
        try:
            there = os.readlink(f"/proc/{each.pid}/ns/mnt") == os.readlink(
                f"/proc/{lab.b.pid}/ns/mnt"
            )
            if there and "stackcost.hosts.agent" in each.cmdline():
                found.append(each)
        except (OSError, psutil.Error):
            continue
    return found


def trials(lab: Lab, name: str) -> list[Trial]:
    (folder,) = lab.folder.glob(f"results/*-{name}")
    return RunFolder(folder).trials()


def measured(lab: Lab, name: str, *arguments: Any, **changed: Any) -> list[Trial]:
    """Trials of a run. `arguments`, `changed`: of its plan."""
    file = plan(lab, name, *arguments, **changed)
    assert errors(lab, str(lab.folder / "results"), file) == [None]
    check_undone(lab)
    return trials(lab, name)


def test_nginx_on_another_host_has_its_costs(lab: Lab) -> None:
    made = [each for each in measured(lab, "figures") if not each.set_aside]
    held = [each for each in made if isinstance(each.load, HeldFlows)]
    (loaded,) = (each for each in made if isinstance(each.load, ConstantLoad))
    assert [each.load.held_flows for each in held] == [0, 400, 0]
    seen = Readings(loaded, (1,))
    assert loaded.load.client["tcps_connects"] == loaded.load.server_requests > 1500
    assert abs(loaded.clocks["b"].offset_s) <= loaded.clocks["b"].error_s, "it is one clock"
    cost = uncorrected_total(seen)
    window = seen.phases["sustain"].length
    spent = (cost or 0) / MICROSECONDS * (completed_in(seen) or 0)
    assert 0 < spent <= 1.02 * window, "no more than the whole of its one core"
    for metric in (
        metrics.ENGINE_BUSY_TIME,
        metrics.CPU_EXACT_TIME,
        PROCESSED,
        metrics.TCP_COUNTER,
    ):
        assert seen.growth(metric), metric
    flows = [Readings(each).at("hold").level(ESTABLISHED) for each in held]
    assert flows[1] - flows[0] == pytest.approx(400, abs=20)
    (folder,) = lab.folder.glob("results/*-figures")
    bed = json.loads((folder / "manifest.json").read_text())["test_bed"]["nginx/kernel"]
    assert bed["cpus"] == {"load": [0], "server": [1]}
    assert bed["interfaces"] == {"load": ["nic0"], "server": ["nic0"]}
    assert bed["hosts"]["b"]["machine"]["kernel"]
    assert (folder / "logs" / "1-nginx-kernel" / "b" / "server" / "nginx.conf").is_file()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "interfaces", "server"),
    [("peer", NICS[:1], "astf-peer"), ("device", NICS, "dut/nftables")],
)
def test_a_peer_and_a_device_can_be_on_another_host(
    lab: Lab, name: str, interfaces: Sequence[str], server: str
) -> None:
    *_, trial = measured(lab, name, interfaces, server)
    client = trial.traffic.client
    assert client["tcps_connects"] == client["tcps_connattempt"] > 1500
    assert trial.response_bytes == 1000
    if name == "device":
        way = trial.traffic.frames["to servers"]
        assert way.sent == way.entered == way.left == way.arrived > 5000
    else:
        assert Readings(trial).growth(metrics.ENGINE_BUSY_TIME, engine="peer")


@pytest.mark.long
def test_each_fault_before_a_turn_is_one_clear_message(lab: Lab) -> None:
    silent = lab.folder / "another-version"
    silent.write_text('#!/bin/sh\necho \'{"version": "0.0.1+abc"}\'\ncat >/dev/null\n')
    silent.chmod(0o755)
    unknown, changed = lab.folder / "unknown", lab.folder / "changed"
    unknown.write_text("")
    changed.write_text(lab.address + " " + (lab.folder / "other_key.pub").read_text())
    lab.b.said("ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1")
    lab.b.said("ip", "link", "set", "up0", "up")
    lab.b.said("ip", "route", "add", "default", "dev", "up0")
    wanted = {
        "port": (plan(lab, "port", port=2), "host b (root@10.99.0.2, port 2) cannot be reached"),
        "unknown": (
            plan(lab, "unknown-key", known_hosts=str(unknown)),
            "the key of host b (10.99.0.2) is not known",
        ),
        "changed": (plan(lab, "changed-key", known_hosts=str(changed)), "has another key than"),
        "user": (
            plan(lab, "user", key=str(lab.folder / "other_key")),
            "refuses the user",
        ),
        "python": (plan(lab, "python", python="/nowhere/python"), "exit status 127"),
        "module": (plan(lab, "module", python="/usr/bin/python3"), "No module named"),
        "version": (
            plan(lab, "version", python=str(silent)),
            "host b has another version of stackcost: 0.0.1+abc",
        ),
        "interface": (plan(lab, "none", ["nic9"]), "host b: there is no interface nic9"),
        "ssh": (
            plan(lab, "ssh", ["mgmt0"]),
            "host b: interface mgmt0 is refused: it carries the SSH session",
        ),
        "uplink": (
            plan(lab, "uplink", ["up0"]),
            "host b: interface up0 is refused: it carries the default route",
        ),
    }
    try:
        said = errors(lab, "-", *(file for file, _ in wanted.values()))
    finally:
        lab.b.said("ip", "link", "del", "up0")
    for (name, (_, words)), error in zip(wanted.items(), said, strict=True):
        assert error and words in error["what"], (name, error)
    check_undone(lab)


def test_hosts_are_examined_before_a_run(lab: Lab) -> None:
    ready = lab.c.run([STACKCOST, "hosts", "check", str(plan(lab, "ready"))])
    assert (ready.returncode, ready.stdout) == (0, "this machine: ready\nb: ready\n"), ready.stderr
    bad = lab.c.run([STACKCOST, "hosts", "check", str(plan(lab, "bad", ["mgmt0"]))])
    assert bad.returncode == 1
    assert "b:\n  interface mgmt0 is refused: it carries the SSH session" in bad.stdout
    check_undone(lab)


def in_mid_trial(lab: Lab, name: str, flows: bool = False) -> "subprocess.Popen[str]":
    """A run that is in its load trial of 30 s. `flows`: after trials that hold open flows."""
    file = plan(lab, name, flows=flows, load={"sustain_s": 30})
    run = lab.c.start(
        [*CONTROL, str(lab.folder / "results"), str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    assert any("connections/s" in line for line in run.stderr), run.communicate()
    # It has read everything once when it has loaded the server for some seconds.
    before = received(lab)
    assert wait_until(lambda: received(lab) > before + 10_000, LIMIT_S)
    return run


def received(lab: Lab) -> int:
    """Frames that the interface of the server has received."""
    path = "/sys/class/net/sc-server0/statistics/rx_packets"
    return int(lab.b.said("ip", "netns", "exec", "stackcost-server", "cat", path))


@pytest.mark.long
def test_a_line_that_is_cut_in_mid_trial_leaves_nothing_and_keeps_the_trials(lab: Lab) -> None:
    run = in_mid_trial(lab, "cut", flows=True)
    (agent,) = agents(lab)
    session = agent.parent()
    assert session is not None and session.name() in ("sshd", "sshd-session")  # OpenSSH 9.8
    session.kill()
    said, _ = run.communicate(timeout=60)
    assert "host b: the line to its agent has ended: the SSH connection" in json.loads(said)["what"]
    assert wait_until(lambda: not agents(lab), LIMIT_S)
    *held, cut = trials(lab, "cut")
    assert [each.set_aside for each in held] == ["", "", ""] and cut.set_aside == CUT_SHORT
    assert cut.samples, "what was measured is kept"
    check_undone(lab)


@pytest.mark.long
def test_a_killed_agent_is_told_and_the_next_start_cleans_up_after_it(lab: Lab) -> None:
    run = in_mid_trial(lab, "killed")
    (agent,) = agents(lab)
    agent.kill()
    said, _ = run.communicate(timeout=60)
    assert "host b: the line to its agent has ended" in json.loads(said)["what"]
    assert "nic0" not in lab.b.said("ip", "-br", "link")
    assert "done: give back interface nic0" in lab.b.said(STACKCOST, "clean")
    check_undone(lab)


@pytest.mark.long
def test_a_killed_controller_leaves_nothing_on_the_other_host(lab: Lab) -> None:
    run = in_mid_trial(lab, "controller")
    os.kill(psutil.Process(run.pid).pid, signal.SIGKILL)
    run.communicate(timeout=60)
    assert wait_until(lambda: not agents(lab), LIMIT_S)
    assert "nic0" in lab.b.said("ip", "-br", "link")
    assert lab.b.said("ls", "/run/netns") == ""
    assert "done: give back interface nic0" in lab.c.said(STACKCOST, "clean")
    check_undone(lab)
