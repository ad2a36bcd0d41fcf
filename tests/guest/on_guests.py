"""Guests that really boot: a server behind a tap, and the engine on PCI ports.

script/test-guests runs these tests; script/test does not, because they take too long without KVM.
They need root, QEMU and mmdebstrap. GUEST_IMAGES may name the folder with the images.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from stackcost.analysis.cpu import server_total, why_no_cost
from stackcost.analysis.flags import flags_of
from stackcost.analysis.readings import Readings
from stackcost.contracts.wiring import NAMESPACE_PREFIX
from stackcost.harness.comparison.turns import run_experiment
from stackcost.harness.experiment.load_file import load_experiment
from stackcost.harness.guest.machine import (
    IMAGES,
    KERNELS,
    Machine,
    Nic,
    interface_name,
    pci_address,
    tap_name,
)
from stackcost.harness.guest.running import Guest, stop
from stackcost.harness.guest.start import start
from stackcost.store import RunFolder

FOLDER = Path(os.environ.get("GUEST_IMAGES", IMAGES))
IN_GUEST = Path(__file__).with_name("pci_ports.py")
PYTHON = "/opt/stackcost/bin/python"
NICS = (Nic("virtio", 2), Nic("virtio"), Nic("e1000e"), Nic("e1000e"), Nic("vmxnet3"))
FLOWS = 1000
BRIDGE = f"{NAMESPACE_PREFIX}bridge"
PLAN: dict[str, Any] = {
    "title": "nginx in a guest",
    "servers": ["nginx/kernel"],
    "baseline": "nginx/kernel",
    "against": "nginx/kernel",
    "rounds": 1,
    "cores": {"load": [0], "server": [1]},
    "workload": {
        "response_bytes": 1000,
        "clients": "16.0.0.1-16.0.0.200",
        "server": "48.0.0.1",
        "port": 80,
    },
    "load": {
        "profile": "http_program.py",
        "offered_cps": [20],
        "warm_up_s": 3,
        "sustain_s": 15,
        "drain_s": 30,
    },
}


@contextmanager
def booted(name: str, machine: Machine) -> Iterator[Guest]:
    guest = start(name, machine, FOLDER, print)
    try:
        yield guest
    finally:
        assert stop(guest).done
        assert guest.process() is None


@pytest.fixture(scope="module")
def guest() -> Iterator[Guest]:
    with booted("b", Machine(nics=NICS)) as one:
        yield one


def run(*command: str) -> None:
    subprocess.run(command, check=True)


@contextmanager
def joined(guest: Guest, *nics: int) -> Iterator[None]:
    """The wires of some NICs on one bridge, in a namespace that leads nowhere else."""
    run("ip", "netns", "add", BRIDGE)
    inside = ("ip", "-n", BRIDGE, "link")
    taps = [tap_name(guest.name, at) for at in nics]
    try:
        run(*inside, "add", "bridge", "type", "bridge")
        run("ip", "netns", "exec", BRIDGE, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        for tap in taps:
            run("ip", "link", "set", tap, "netns", BRIDGE)
            run(*inside, "set", tap, "master", "bridge", "up")
        run(*inside, "set", "bridge", "up")
        yield
    finally:
        for tap in taps:  # a tap does not outlive the namespace that it is in
            subprocess.run([*inside, "set", tap, "netns", str(os.getpid())])
        run("ip", "netns", "del", BRIDGE)


def plan(guest: Guest, folder: Path, at: int) -> Path:
    """An experiment with nginx behind one NIC, of the sections that the command prints."""
    sections = yaml.safe_load(guest.as_host())
    sections["bed"]["server"]["interfaces"] = [interface_name(at)]
    sections["bed"]["load"]["interfaces"] = [tap_name(guest.name, at)]
    file = folder / "guest.yaml"
    file.write_text(json.dumps(PLAN | sections))
    return file


@pytest.mark.parametrize("at", [1, 2], ids=["virtio", "e1000e"])
def test_a_server_in_a_guest_has_whole_flows_and_marked_figures(
    guest: Guest, tmp_path: Path, at: int
) -> None:
    experiment = load_experiment(plan(guest, tmp_path, at))
    run_experiment(experiment, "guest", tmp_path / "results", [], Console(stderr=True))
    (folder,) = (tmp_path / "results").iterdir()
    trial = RunFolder(folder).trials()[-1]
    client = trial.traffic.client
    assert client["tcps_connattempt"] == client["tcps_connects"] == client["tcps_closed"] > 300
    assert trial.load.server_requests == client["tcps_connects"]
    seen = Readings(trial)
    assert any("guest" in flag for flag in flags_of(seen, [1]))
    if guest.emulated:
        assert server_total(seen, [1]) is None and "emulated" in why_no_cost(seen, [1])
    else:
        assert server_total(seen, [1]) is not None


@pytest.mark.parametrize(
    ("near", "far", "queues"),
    [(2, 3, 1), (4, 1, 1), (3, 0, 2)],
    ids=["e1000e", "vmxnet3 to virtio", "e1000e to virtio with 2 queues"],
)
def test_the_engine_drives_nics_of_a_guest(guest: Guest, near: int, far: int, queues: int) -> None:
    arguments = [str(FLOWS), pci_address(near), pci_address(far), str(queues)]
    with joined(guest, near, far):
        done = subprocess.run(
            guest.ssh(PYTHON, "-P", "-", *arguments),
            input=IN_GUEST.read_text(),
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    client, server = told["client"], told["server"]
    flows = client["tcps_connattempt"]
    assert flows == client["tcps_connects"] == client["tcps_closed"] >= FLOWS
    assert server["tcps_accepts"] == server["tcps_closed"] == flows
    assert client["tcps_drops"] == server["tcps_drops"] == 0
    if queues > 1:
        received = told["received by queue"]
        shares = [packets / sum(received) for packets in received]
        assert all(abs(share - 1 / queues) < 0.1 for share in shares), "RSS spreads the flows"


def test_a_kernel_is_the_one_that_was_asked_for() -> None:
    with booted("k", Machine(nics=(), kernel=KERNELS[1])) as other:
        done = subprocess.run(other.ssh("uname", "-r"), capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"{KERNELS[1]}.")
