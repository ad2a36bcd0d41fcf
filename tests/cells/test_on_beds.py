"""Eight cells over two beds, whose hosts are namespaces; a host of one bed is killed meanwhile."""

import json
import os
import re
import subprocess
import time
from contextlib import suppress

import psutil
import pytest

from stackcost.host.waiting import wait_until
from stackcost.store import RunFolder
from tests.cells.two_beds import SHORT, bed, plan, records
from tests.hosts.lab import Lab, LabHost
from tests.hosts.test_on_bed import STACKCOST

pytestmark = [pytest.mark.bed, pytest.mark.long, pytest.mark.timeout(600)]


def command(lab: Lab, *experiments: str) -> list[str]:
    beds = [part for number in (1, 2) for part in ("--bed", bed(lab, number))]
    results = ["--results", str(lab.folder / "results")]
    return [STACKCOST, "distribute", *experiments, *beds, "--name", "nightly", *results]


def kill(host: LabHost) -> None:
    """Everything that runs on it, as when its power fails."""
    there = os.readlink(f"/proc/{host.pid}/ns/net")
    for each in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if os.readlink(f"/proc/{each.pid}/ns/net") == there:
                each.kill()


def test_all_cells_are_measured_once_though_a_host_is_killed(lab: Lab) -> None:
    wanted = [plan(lab, "one"), plan(lab, "two", title="again")]
    run = lab.c.start(command(lab, *wanted), stdout=subprocess.PIPE, text=True)
    assert wait_until(lambda: len(records(lab)) >= 2 or run.poll() is not None, 120)
    time.sleep(4)  # its next cell is being measured
    kill(lab.others["b1"])
    said, _ = run.communicate(timeout=450)
    assert run.returncode == 0, said
    assert said.startswith("8 cells, 0 measured before; beds: bed1, bed2\n")
    assert said.endswith("8 cells: 8 measured, 0 not\n")
    (aside,) = re.findall("bed bed1 is set aside: (.*)", said)
    assert "host b1 (root@10.99.0.3, port 22) cannot be reached" in aside

    found = sorted(records(lab), key=lambda each: str(each["cell"]))
    lengths = sorted(["400", "500", "1000", "2000"])
    assert [each["cell"] for each in found] == [
        f"{name}-{length}" for name in ("one", "two") for length in lengths
    ]
    beds = [each["bed"] for each in found]
    assert beds.count("bed1") >= 1 and beds.count("bed2") >= 5
    assert max(each["attempt"] for each in found) == 2
    for path in lab.folder.glob("results/*/cell.json"):
        folder = RunFolder(path.parent)
        assert folder.manifest().state == "complete"
        assert [each.offered_cps for each in folder.trials() if not each.set_aside] == [200]
    listed = json.loads(lab.c.said(STACKCOST, "ls", "--json", str(lab.folder / "results")))
    assert len(listed) == 8
    left = [path.name for path in (lab.folder / "results/.unfinished/nightly").iterdir()]
    assert left == ["lock"]
    for name in ("a1", "a2", "b2"):
        assert wait_until(lambda name=name: not lab.others[name].said("ls", "/run/netns"), 40)


def test_a_second_start_measures_what_is_missing_and_tells_what_fails(lab: Lab) -> None:
    """After the test before it: one bed has no host any more, so a cell has one bed to fail on."""
    broken = lab.folder / "broken.py"
    broken.write_text("raise ValueError('this profile is broken')")
    load = SHORT["load"] | {"profile": "broken.py"}
    fails = plan(lab, "fails", load=load, matrix={})
    done = lab.c.run(command(lab, plan(lab, "one"), fails))
    assert done.returncode == 1, done.stderr
    said = done.stdout
    assert said.startswith("5 cells, 4 measured before; beds: bed1, bed2\n")
    assert len(re.findall("fails on bed2: failed: .*this profile is broken", said)) == 1
    assert re.search("\nfails was not measured: on bed2: .*this profile is broken", said)
    assert said.endswith("5 cells: 4 measured, 1 not\n")
    assert len(records(lab)) == 8
    changed = lab.c.run(command(lab, plan(lab, "one", rounds=2)))
    assert changed.returncode == 1
    assert "the set nightly has cell one-400 with another plan" in changed.stderr
