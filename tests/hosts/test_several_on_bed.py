"""Two generators on two hosts, a server on a third one, and a controller on a fourth."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackcost.analysis.cost import generators
from stackcost.contracts.load import ConstantLoad, HeldFlows
from stackcost.contracts.trial import CUT_SHORT, Trial
from stackcost.host.waiting import wait_until
from stackcost.store import RunFolder
from tests.hosts.lab import LIMIT_S, Lab, LabHost
from tests.hosts.test_on_bed import CONTROL, PLAN

pytestmark = [pytest.mark.bed, pytest.mark.long]
LOADS = [{"host": "a1", "interfaces": ["nic0"]}, {"host": "a2", "interfaces": ["nic0"]}]
SERVER = {"host": "b", "interfaces": ["nic0"]}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(tmp_path_factory.mktemp("lab"), ("a1", "a2", "b")) as made:
        yield made


def plan(lab: Lab, name: str, loads: Any = None, server: Any = None, **changed: Any) -> Path:
    """The file of an experiment. `changed`: sections; None: left out."""
    bed = {"load": loads or LOADS, "server": server or SERVER}
    whole = PLAN | {"hosts": lab.hosts(), "bed": bed} | changed
    file = lab.folder / f"{name}.yaml"
    file.write_text(json.dumps({key: each for key, each in whole.items() if each is not None}))
    return file


def started(lab: Lab, *plans: Path) -> "subprocess.Popen[str]":
    """A controller that runs these."""
    command = [*CONTROL, str(lab.folder / "results"), *map(str, plans)]
    return lab.c.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def trials(lab: Lab, name: str) -> list[Trial]:
    (folder,) = lab.folder.glob(f"results/*-{name}")
    return RunFolder(folder).trials()


def engines(host: LabHost) -> list[psutil.Process]:
    """The generators that run on a host."""
    found, wanted = [], os.readlink(f"/proc/{host.pid}/ns/mnt")
    for each in psutil.process_iter():
        try:  # each generator has a mount namespace of its own, below that of its agent
            line, parents = each.cmdline(), [each, *each.parents()]
            there = any(os.readlink(f"/proc/{p.pid}/ns/mnt") == wanted for p in parents)
            if there and line and line[0].endswith("astf-engine"):
                found.append(each)
        except (OSError, psutil.Error):
            continue
    return found


def check_undone(lab: Lab) -> None:
    """All hosts are as they were."""
    for host in lab.all:
        assert "nic0" in host.said("ip", "-br", "link"), host.name
        assert host.said("ls", "/run/netns") == "", host.name
        assert not engines(host), host.name


@pytest.fixture(scope="module")
def measured(lab: Lab) -> Lab:
    """The lab after a run with two generators, by one controller."""
    said, progress = started(lab, plan(lab, "two")).communicate(timeout=180)
    assert said == "null\n", (said, progress)
    check_undone(lab)
    return lab


def test_the_sum_of_two_generators_on_two_hosts_is_exact_to_the_connection(measured: Lab) -> None:
    made = [each for each in trials(measured, "two") if not each.set_aside]
    held = [each.load for each in made if isinstance(each.load, HeldFlows)]
    (loaded,) = (each for each in made if isinstance(each.load, ConstantLoad))
    load = loaded.load
    assert isinstance(load, ConstantLoad) and load.schedule
    connects = [each.client["tcps_connects"] for each in load.generators]
    assert load.server_requests == sum(connects) == load.client["tcps_connects"] > 1500
    assert load.schedule.opened == sum(connects)
    assert generators.opened_share(loaded, "generator-1 on a1") == pytest.approx(0.5, abs=0.01)
    assert [each.held_flows for each in held] == [0, 400, 0]
    assert load.latency and load.latency[""]


def test_the_hosts_of_the_load_are_in_the_manifest(measured: Lab) -> None:
    (folder,) = measured.folder.glob("results/*-two")
    manifest = json.loads((folder / "manifest.json").read_text())
    bed = manifest["test_bed"]["nginx/kernel"]
    assert set(bed["hosts"]) == {"a1", "a2", "b"}
    assert bed["cpus"] == {"load": [0], "server": [1]}
    told = manifest["servers"]["generator"]["generators"]
    assert told["generator-2 on a2"]["clients"] == "16.0.0.101-16.0.0.200"
    assert list(folder.glob("logs/*/a2/generator-2.log"))


def test_one_that_is_killed_on_its_host_ends_the_trial_with_its_name(lab: Lab) -> None:
    load = PLAN["load"] | {"sustain_s": 4}
    run = started(lab, plan(lab, "killed", load=load, memory=None))
    assert run.stderr is not None
    assert any("connections/s" in line for line in run.stderr)
    before = sent(lab)  # the interface has counted the runs before, too
    assert wait_until(lambda: sent(lab) > before + 5000, LIMIT_S), "past the warm-up"
    (engine,) = engines(lab.others["a2"])
    engine.send_signal(signal.SIGKILL)
    said, _ = run.communicate(timeout=90)
    assert "host a2: generator-2 ended with exit status" in json.loads(said)["what"]
    (cut,) = trials(lab, "killed")
    assert cut.set_aside == CUT_SHORT and cut.samples
    check_undone(lab)


def sent(lab: Lab) -> int:
    """Frames that the interface of the server has received."""
    path = "/sys/class/net/sc-server0/statistics/rx_packets"
    done = lab.b.run(["ip", "netns", "exec", "stackcost-server", "cat", path])
    return int(done.stdout or 0)


def test_a_server_here_is_loaded_from_another_host(lab: Lab) -> None:
    file = plan(lab, "here", loads=LOADS[0], server={"interfaces": ["nic0"]})
    said, progress = started(lab, file).communicate(timeout=180)
    assert said == "null\n", (said, progress)
    *_, loaded = (each for each in trials(lab, "here") if isinstance(each.load, ConstantLoad))
    assert isinstance(loaded.load, ConstantLoad) and not loaded.load.generators
    assert loaded.load.client["tcps_connects"] == loaded.load.server_requests
    check_undone(lab)
