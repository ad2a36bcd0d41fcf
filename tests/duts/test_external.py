"""A device that is given by configuration only: a namespace that is made by hand stands for it.

The device is a host of its own, of which stackcost has the two ports alone: no SSH, no agent.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackcost.analysis.device.device import lost_frames
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.runs.device import events_for, experiment_of
from stackcost.store import RunFolder
from tests.hosts.lab import NICS, Lab
from tests.hosts.test_on_bed import PLAN, STACKCOST, errors

DEVICE = {
    "name": "a namespace made by hand",
    "version": "1",
    "notes": "no rules",
    "expects": {"connections": 500},
}
EXTERNAL = "dut/external"
ONE_OF_20 = "type filter hook forward priority 0; numgen random mod 20 0 drop;"
BY_HAND = """
address add 198.18.0.2/24 dev nic0
address add 198.19.0.1/24 dev nic1
route add 16.0.0.0/8 via 198.18.0.1
route add 48.0.0.0/8 via 198.19.0.2
"""


def plan(folder: Path, name: str = "device", **changed: Any) -> Path:
    whole = PLAN | {
        "servers": [EXTERNAL],
        "baseline": EXTERNAL,
        "against": EXTERNAL,
        "cores": {"load": [0]},
        "dut": {"device": DEVICE},
        "bed": {"load": {"interfaces": list(NICS)}},
    }
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(whole | changed))
    return file


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"dut": {}}, "dut/external is measured alone, and dut.device says what it is"),
        ({"cores": {"load": [0], "server": [1]}}, "without bed.server and cores.server"),
        ({"bed": None}, "needs a section bed with the interfaces of bed.load"),
        ({"servers": ["dut/forwarding"], "baseline": "dut/forwarding"}, "bed.server: the key"),
        ({"dut": {"device": DEVICE | {"speed": 1}}}, "line 1: dut.device.speed"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    if "servers" in changed:
        changed = changed | {"against": "dut/forwarding"}
    with pytest.raises(StackcostError, match=said):
        read_experiment(plan(tmp_path, **changed))


def test_a_server_needs_cores(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(json.dumps(PLAN | {"cores": {"load": [0]}}))
    with pytest.raises(StackcostError, match=r"cores\.server: it needs at least one core"):
        read_experiment(file)


def test_the_standard_set_has_what_needs_nothing_of_the_device(tmp_path: Path) -> None:
    made = experiment_of("external", True, {}, plan(tmp_path))
    assert made.servers == [EXTERNAL] == [made.baseline] == [made.against]
    assert made.dut.device and made.dut.device.expects.connections == 500
    events, (left_out,) = events_for(made, tracks=True)
    assert events == ["mix"] and "stackcost can change nothing of the device" in left_out
    with pytest.raises(StackcostError, match="known by the section"):
        experiment_of("external", True, {})


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("lab")) as made:
        device = made.b
        for line in BY_HAND.strip().splitlines():
            device.said("ip", *line.split())
        device.said("sysctl", "-w", "net.ipv4.ip_forward=1")
        yield made


@pytest.mark.long
@pytest.mark.bed
def test_its_costs_are_unknown_with_the_reason_and_frames_are_counted_at_both_ends(
    lab: Lab,
) -> None:
    results = lab.folder / "results"
    done = lab.c.run([STACKCOST, "hosts", "check", str(plan(lab.folder))])
    assert (done.returncode, done.stdout) == (0, "this machine: ready\n"), done.stderr
    files = [plan(lab.folder, name) for name in ("device", "ceiling-device")]
    assert errors(lab, str(results), *files) == [None, None]
    lab.c.said(STACKCOST, "report", *(str(each) for each in results.iterdir()))

    (folder,) = (RunFolder(each) for each in results.glob("*Z-device"))
    *_, loaded = (each for each in folder.trials() if not each.set_aside)
    client = loaded.traffic.client
    assert client["tcps_connects"] == client["tcps_connattempt"] > 1000
    for way in loaded.traffic.frames.values():
        assert way.entered is None and way.left is None
        # ARP is counted at the ports and not forwarded
        assert way.sent == pytest.approx(way.arrived, abs=10) and way.sent > 4000
    summary = json.loads((folder.path / "summary.json").read_text())
    (level,) = summary["servers"][0]["levels"]
    total = level["figures"]["server_cpu_total"]
    assert total["median"] is None
    assert "nothing of stackcost runs on the device" in total["reason"]
    assert summary["servers"][0]["memories"] == {}
    server = folder.manifest().servers[EXTERNAL]
    assert server["device"]["name"] == DEVICE["name"] and server["device"]["version"] == "1"
    assert server["clients_side"] == {"address": "198.18.0.2", "clients_by": "198.18.0.1"}

    (ceiling,) = results.glob("*Z-ceiling-device")
    (found,) = json.loads((ceiling / "summary.json").read_text())["ceilings"]
    assert found["expected"] == 500 and found["rates"][0]["lower"] >= 300
    assert "Its configuration expects 500 connections/s" in lab.c.said(
        STACKCOST, "show", str(ceiling)
    )
    assert lab.c.said("ls", "/run/netns") == ""


@pytest.mark.long
@pytest.mark.bed
def test_frames_that_the_device_drops_are_seen_as_lost_between_the_ports(lab: Lab) -> None:
    device = lab.b
    device.said("nft", f"table ip t {{ chain c {{ {ONE_OF_20} }}; }}")
    try:
        file = plan(lab.folder, "lossy", memory=None)
        whole = json.loads(file.read_text())
        del whole["memory"]
        file.write_text(json.dumps(whole))
        assert errors(lab, str(lab.folder / "results"), file) == [None]
    finally:
        device.said("nft", "flush", "ruleset")
    (folder,) = (RunFolder(each) for each in (lab.folder / "results").glob("*Z-lossy"))
    *_, trial = folder.trials()
    lost = lost_frames(trial)
    ways = trial.traffic.frames.values()
    assert lost and (lost.before, lost.inside, lost.after) == (0, 0, 0)
    assert lost.somewhere == pytest.approx(0.05 * sum(way.sent for way in ways), rel=0.3)
