"""Hugepages are reserved, reported honestly when short, and given back."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackcost.bed import hugepages
from stackcost.bed.leftovers import undo_settings
from stackcost.host import host_sysctl
from stackcost.host import state as testbed_state

TAKE_PAGES = """
import mmap, sys
MAP_HUGETLB = 0x40000
pages = mmap.mmap(-1, int(sys.argv[1]) << 21, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB)
for page in range(int(sys.argv[1])):
    pages[page << 21] = 1
print("taken", flush=True)
sys.stdin.read()
"""


def pages(name: str) -> int:
    return int((hugepages.PAGES / name).read_text())


@pytest.fixture(autouse=True)
def nothing_to_restore() -> None:
    """A run that was killed on this machine may have left its record; the next start undoes it."""
    assert all(step.done for step in hugepages.restore())


@pytest.mark.bed
def test_enough_free_pages_change_nothing() -> None:
    before = pages("nr_hugepages")
    reservation = hugepages.reserve(pages("free_hugepages") // 2)
    assert reservation.reason == "" and pages("nr_hugepages") == before
    assert hugepages.restore() == []


@pytest.mark.bed
def test_missing_pages_are_added_and_given_back() -> None:
    before = pages("nr_hugepages")
    wanted = pages("free_hugepages") + 3
    reservation = hugepages.reserve(wanted)
    try:
        assert reservation == hugepages.Reservation(wanted, wanted)
        hugepages.reserve(wanted + 2)  # the value to go back to stays the first
    finally:
        (step,) = hugepages.restore()
        assert step.done and step.what == f"set the number of hugepages back to {before}"
    assert pages("nr_hugepages") == before


def test_too_few_pages_are_reported_with_both_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files in place of the kernel's, which would give nearly all memory before it gives up."""
    (tmp_path / "nr_hugepages").write_text("3")
    (tmp_path / "free_hugepages").write_text("2")
    (tmp_path / "surplus_hugepages").write_text("0")
    monkeypatch.setattr(hugepages, "PAGES", tmp_path)
    monkeypatch.setattr(testbed_state, "state_folder", lambda: tmp_path)
    reservation = hugepages.reserve(512)
    assert (reservation.wanted, reservation.free) == (512, 2)
    assert "2 of 512 hugepages" in reservation.reason
    assert (tmp_path / "nr_hugepages").read_text() == "513"
    hugepages.restore()
    assert (tmp_path / "nr_hugepages").read_text() == "3"


@pytest.mark.bed
def test_pages_that_a_program_still_has_are_not_set_for_good() -> None:
    """A program outlives the run that reserved its pages, and ends in the one after."""
    before, wanted = pages("nr_hugepages"), pages("free_hugepages") + 4
    hugepages.reserve(wanted)
    program = subprocess.Popen(
        [sys.executable, "-c", TAKE_PAGES, str(wanted)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert program.stdout is not None and program.stdout.readline() == "taken\n"
        hugepages.restore()
        assert pages("surplus_hugepages") >= 4
        hugepages.reserve(2)
    finally:
        program.communicate()
        hugepages.restore()
    assert pages("nr_hugepages") == before


class Killed(BaseException):
    """Stands for SIGKILL: nothing that could clean up runs."""


@pytest.mark.parametrize("step", range(12))
def test_a_kill_at_any_moment_leaves_what_the_next_start_restores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Each write, rename and removal of a file is one moment; a file then is opened, and empty."""
    machine, state = tmp_path / "machine", tmp_path / "state"
    (machine / "vm").mkdir(parents=True)
    state.mkdir()
    for name, value in (("nr_hugepages", 3), ("free_hugepages", 2), ("surplus_hugepages", 0)):
        (machine / "vm" / name).write_text(str(value))
    monkeypatch.setattr(hugepages, "PAGES", machine / "vm")
    monkeypatch.setattr(host_sysctl, "ROOT", machine)
    monkeypatch.setattr(testbed_state, "state_folder", lambda: state)
    left = step

    def dying(act: Callable[..., Any]) -> Callable[..., Any]:
        def moment(path: Path, *arguments: Any, **options: Any) -> Any:
            nonlocal left
            if left == 0:
                if act is write_bytes and state in path.parents:
                    path.open("w").close()
                raise Killed
            left -= 1
            return act(path, *arguments, **options)

        return moment

    write_bytes = Path.write_bytes
    with monkeypatch.context() as short_lived:
        short_lived.setattr(Path, "write_text", dying(Path.write_text))
        short_lived.setattr(Path, "write_bytes", dying(Path.write_bytes))
        short_lived.setattr(Path, "unlink", dying(Path.unlink))
        short_lived.setattr(os, "replace", dying(os.replace))
        with contextlib.suppress(Killed):
            hugepages.reserve(512)
            host_sysctl.write("vm.nr_hugepages", "10000")
            undo_settings()
    undo_settings()
    assert (machine / "vm" / "nr_hugepages").read_text() == "3"
    assert not [path for path in state.iterdir() if path.suffix == ".json"]
