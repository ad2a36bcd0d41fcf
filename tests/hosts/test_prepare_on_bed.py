"""`stackcost hosts prepare`: a wheel is installed on a host that has none, and its doctor runs."""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from stackcost import files
from tests.hosts.lab import Lab
from tests.hosts.test_on_bed import STACKCOST, check_undone, plan
from tests.trex.conftest import REPOSITORY

pytestmark = pytest.mark.bed
NAME = "stackcost-{}-py3-none-linux_x86_64.whl"
WHEEL = (
    "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"
)


def wheel(folder: Path) -> Path:
    """The files of this checkout as script/package packs them, with the engine of this machine."""
    found = distribution("stackcost")
    path = folder / NAME.format(found.version)
    about = f"stackcost-{found.version}.dist-info"
    listing = ["git", "ls-files", "-co", "--exclude-standard", "harness", *files.NAMES]
    listed = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, text=True)
    names = [name for name in listed.stdout.split() if (REPOSITORY / name).is_file()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name in names:
            inside = (
                name.removeprefix("harness/") if "harness/" in name else f"stackcost/suite/{name}"
            )
            packed.write(REPOSITORY / name, inside)
        packed.write(files.ENGINE, "stackcost/suite/build/engine/astf-engine")
        for inside, text in (
            ("METADATA", found.read_text("METADATA")),
            ("WHEEL", WHEEL),
            ("entry_points.txt", found.read_text("entry_points.txt")),
            ("RECORD", ""),
        ):
            packed.writestr(f"{about}/{inside}", text or "")
    return path


def prefix(folder: Path) -> Path:
    """A virtual environment in which everything but stackcost is installed.

    Nothing is fetched: the host has no network but the lab's.
    """
    made = folder / "prefix"
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True)
    (site,) = made.glob("lib/python*/site-packages")
    for own in site.glob("setuptools*"):  # older than what stackcost needs
        shutil.rmtree(own)
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


@pytest.mark.long
def test_a_host_without_stackcost_is_prepared_and_ready(lab: Lab) -> None:
    there = prefix(lab.folder)
    file = plan(lab, "prepared", python=str(there / "bin/python"))
    before = lab.c.run([STACKCOST, "hosts", "check", str(file)])
    assert before.returncode == 1 and "No module named" in before.stdout
    command = [STACKCOST, "hosts", "prepare", str(file), "--wheel", str(wheel(lab.folder))]
    done = lab.c.run(command)
    assert "stackcost doctor" in done.stdout, (done.stdout, done.stderr)
    assert done.stdout.endswith("this machine: ready\nb: ready\n"), (done.stdout, done.stderr)
    (installed,) = there.glob("lib/python*/site-packages/stackcost")
    assert (installed / "suite/build/engine/astf-engine").is_file()
    assert not list(lab.folder.glob("tmp*")), "the wheel is removed from the host"
    check_undone(lab)


def test_what_keeps_a_host_from_being_prepared_is_one_clear_message(lab: Lab) -> None:
    good = wheel(lab.folder)
    wrong = lab.folder / "wrong.whl"
    wrong.write_text("no archive")
    for changed, file, said in (
        ({}, wrong, "wrong.whl is no wheel"),
        ({"port": 2}, good, "host b (root@10.99.0.2, port 2) cannot be reached"),
        (
            {"python": "/proc/nowhere/bin/python"},
            good,
            "host b: the install failed with status 1: ",
        ),
    ):
        command = [STACKCOST, "hosts", "prepare", str(plan(lab, "faults", **changed))]
        done = lab.c.run([*command, "--wheel", str(file)])
        assert done.returncode == 1 and said in done.stderr, (done.stdout, done.stderr)
