"""Faults of another host: no space there, the rights of its user, and its clock."""

import subprocess
import sys
from pathlib import Path

import pytest

from stackcost.contracts.load import ConstantLoad
from tests.hosts.lab import Lab
from tests.hosts.test_on_bed import check_undone, errors, plan, trials
from tests.trex.test_clock_step import STEPPED

pytestmark = [pytest.mark.bed, pytest.mark.long]
AGENT = f"{sys.executable} -P -m stackcost.hosts.agent"
FULL = f"""#!/bin/sh
mount -o remount,size=8m /run
cat /dev/zero >/run/fill 2>/dev/null
exec {sys.executable} "$@"
"""
# Half a second into the sustain window of 2 s, an hour back.
LATER_S = 8
CLOCK = f"""#!/bin/sh
export LD_PRELOAD={{library}} CLOCK_STEP_FILE={{file}}
(sleep {LATER_S}; echo -3600 >{{file}}) </dev/null >/dev/null 2>&1 &
exec {sys.executable} "$@"
"""


def program(lab: Lab, name: str, text: str) -> str:
    """The path of a program that stands for the Python of host b."""
    path = lab.folder / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def users(lab: Lab) -> None:
    """On host b: `lab` may run the agent by sudo, `other` may run nothing."""
    passwd, rights = lab.folder / "passwd", lab.folder / "sudoers.d"
    own = (f"{name}:*:{number}:{number}::/:/bin/sh\n" for name, number in USERS.items())
    passwd.write_text(Path("/etc/passwd").read_text() + "".join(own))
    passwd.chmod(0o644)
    rights.mkdir()
    (rights / "lab").write_text(f"lab ALL=(root) NOPASSWD: {AGENT}\n")
    (rights / "lab").chmod(0o440)
    lab.b.said("mount", "--bind", str(passwd), "/etc/passwd")
    lab.b.said("mount", "--bind", str(rights), "/etc/sudoers.d")


USERS = {"lab": 20_001, "other": 20_002}


def test_rights_and_space_on_the_other_host(lab: Lab) -> None:
    """One controller after the other: the disk of host b is full in the last one."""
    users(lab)
    allowed, denied, full = errors(
        lab,
        "-",
        plan(lab, "allowed", user="lab"),
        plan(lab, "denied", user="other"),
        plan(lab, "full", python=program(lab, "full-disk", FULL)),
    )
    lab.b.said("rm", "/run/fill")
    assert allowed is None, "the right to run one command is enough"
    assert denied and "sudo: a password is required" in denied["what"]
    assert (
        f"user other needs the right to run one command without a password: {AGENT}"
        in (denied["what"])
    )
    assert full and full["what"].startswith("host b: no space left"), full
    assert "df -h" in full["hint"]
    check_undone(lab)


def test_a_wall_clock_that_is_set_back_in_mid_trial_changes_nothing(lab: Lab) -> None:
    source, library, file = (lab.folder / name for name in ("step.c", "step.so", "step"))
    source.write_text(STEPPED)
    build = ["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(build, check=True)
    file.write_text("0")
    python = program(lab, "clock", CLOCK.format(library=library, file=file))
    results = str(lab.folder / "results")
    sustained = {"sustain_s": 10}
    (said,) = errors(lab, results, plan(lab, "clock", flows=False, python=python, load=sustained))
    assert said is None
    assert file.read_text() == "-3600\n"
    *_, trial = trials(lab, "clock")
    assert isinstance(trial.load, ConstantLoad) and trial.load.schedule
    assert trial.load.server_requests == trial.load.schedule.opened > 5000
    assert trial.clocks["b"].error_s < 0.5 and abs(trial.clocks["b"].offset_s) < 0.5
    check_undone(lab)
