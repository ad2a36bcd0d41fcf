"""Guests that really boot: a server behind a tap, and the engine on PCI ports.

script/test-guests runs these tests; script/test does not, because they take too long without KVM.
They need root, QEMU and mmdebstrap. GUEST_IMAGES may name the folder with the images.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from stackcost.analysis.cost.cpu import server_total, why_no_cost
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.bed.guest_machine import (
    IMAGES,
    KERNELS,
    SHARED,
    Machine,
    Nic,
    interface_name,
    pci_address,
    tap_name,
)
from stackcost.bed.guest_running import Guest, stop
from stackcost.bed.guest_start import start
from stackcost.cli.entry import app
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.wiring import NAMESPACE_PREFIX
from stackcost.experiment.read_file import read_experiment
from stackcost.report.results.stored import hosts_of
from stackcost.runs.comparison import run_experiment
from stackcost.store import RunFolder
from tests.hosts.lab import NGINX_ALONE

FOLDER = Path(os.environ.get("GUEST_IMAGES", IMAGES))
IN_GUEST = Path(__file__).with_name("pci_ports.py")
PYTHON = "/opt/stackcost/bin/python"
NICS = (
    *(Nic("virtio", 2), Nic("virtio", 2), Nic("virtio")),
    *(Nic("e1000e"), Nic("e1000e"), Nic("vmxnet3")),
)
FLOWS = 1000
BRIDGE = f"{NAMESPACE_PREFIX}bridge"
HELD_FLOWS = 400
HELD = {
    "profile": "http_hold.py",
    "open_flows": [0, HELD_FLOWS],
    "open_cps": 40,
    "settle_s": 1,
    "read_s": 1,
}
PLAN: dict[str, Any] = NGINX_ALONE | {
    "title": "nginx in a guest",
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
    with booted("g", Machine(nics=NICS)) as one:
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


def measured(guest: Guest, folder: Path, at: int, **parts: Any) -> RunFolder:
    """A run with nginx behind one NIC, with the sections that the command prints.

    `parts`: other sections of the experiment.
    """
    sections = yaml.safe_load(guest.as_host())
    sections["bed"]["server"]["interfaces"] = [interface_name(at)]
    sections["bed"]["load"]["interfaces"] = [sections["bed"]["load"]["interfaces"][at]]
    file = folder / f"{guest.machine.kernel}.yaml"
    file.write_text(json.dumps(PLAN | sections | parts))
    results = folder / f"results-{guest.machine.kernel}"
    run_experiment(read_experiment(file), "guest", results, [], Console(stderr=True))
    (run,) = results.iterdir()
    return RunFolder(run)


def check_whole_and_marked(guest: Guest, trial: Trial) -> None:
    assert isinstance(trial.load, ConstantLoad)
    client = trial.load.client
    assert client["tcps_connattempt"] == client["tcps_connects"] == client["tcps_closed"] > 300
    assert trial.load.server_requests == client["tcps_connects"]
    seen = Readings(trial, (1,))
    assert any("guest" in flag for flag in flags_of(seen))
    if guest.emulated:
        assert server_total(seen) is None and "emulated" in why_no_cost(seen)
    else:
        assert server_total(seen) is not None


@pytest.mark.parametrize("at", [2, 3], ids=["virtio", "e1000e"])
def test_a_server_in_a_guest_has_whole_flows_and_marked_figures(
    guest: Guest, tmp_path: Path, at: int
) -> None:
    *_, trial = measured(guest, tmp_path, at).trials()
    check_whole_and_marked(guest, trial)


@pytest.mark.parametrize(
    ("near", "far", "queues"),
    [(3, 4, 1), (5, 2, 1), (0, 1, 2)],
    ids=["e1000e", "vmxnet3 to virtio", "virtio with 2 queues"],
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
    # The NIC reads responses where the engine keeps them, by the address that it has for devices.
    found = told["payload"]["client"]
    assert found["compared_bytes"] == flows * told["response bytes"]
    assert found["mismatched_bytes"] == 0
    if queues > 1:
        # The engine has read back key and table, else it says that it uses rings.
        assert "over rings" not in told["printed"]
        assert not any(
            side[f"rss_redirect_{way}"] for side in (client, server) for way in ("rx", "tx")
        )
        for received in told["received by queue"]:
            shares = [packets / sum(received) for packets in received]
            assert all(abs(share * queues - 1) < 0.1 for share in shares), "RSS spreads the flows"


def test_two_kernels_are_compared_over_nics_that_the_engine_shares(tmp_path: Path) -> None:
    runs: list[str] = []
    for kernel in KERNELS:
        with booted("k", Machine(nics=(Nic(SHARED),), kernel=kernel)) as other:
            run = measured(other, tmp_path, 0, memory=HELD)
            runs.append(str(run.path))
            trials = run.trials()
            check_whole_and_marked(other, trials[-1])
            assert [trial.load.held_flows for trial in trials if trial.traffic.holds] == [
                0,
                HELD_FLOWS,
            ]
            assert not any(trial.set_aside for trial in trials), "noise is no reason for a repeat"
            (host,) = hosts_of(run.manifest()).values()
            assert host["kernel"]["release"].startswith(f"{kernel}.")
    said = CliRunner().invoke(app, ["diff", *runs], env={"COLUMNS": "200"})
    assert said.exit_code == 0, said.output
    assert f"host k: kernel.release: {KERNELS[0]}." in said.output
    assert "guest: A: measured in" in said.output and "guest: B: measured in" in said.output
    (memory,) = (line for line in said.output.splitlines() if "memory.total" in line)
    of_a, of_b = (int(each.replace(",", "")) for each in re.findall(r"[\d,]{5,}", memory)[:2])
    assert all(2000 < each < 20_000 for each in (of_a, of_b)), memory
