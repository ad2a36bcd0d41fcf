"""Guests on stand-ins of QEMU and ssh: the rest is as it is."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stackcost.bed import guest_running as running
from stackcost.bed import guest_start as start
from stackcost.bed import lock
from stackcost.bed.guest_image import folder_of
from stackcost.host import state as state_module
from tests.scripts import write_program

STANDIN = Path(__file__).with_name("standin.py")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own."""
    folder = tmp_path / "state"
    folder.mkdir()
    for module in (state_module, lock, running):
        monkeypatch.setattr(module, "state_folder", lambda: folder)
    return folder


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder with an image, as far as a stand-in needs one."""
    folder_of(tmp_path / "images").mkdir(parents=True)
    return tmp_path / "images"


@pytest.fixture
def qemu(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Path]]:
    """Chooses how the stand-in behaves; returns the folder with what it got."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("qemu-system-x86_64", "ssh"):
        write_program(folder / name, STANDIN.read_text())
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(start, "DEVICE", folder / "kvm")
    monkeypatch.setattr(start, "KVM_LIMIT_S", 3.0)
    monkeypatch.setattr(start, "POLL_S", 0.05)
    monkeypatch.setattr(start, "BANNER_LIMIT_S", 0.5)
    monkeypatch.setattr(start, "portable_engine", lambda say: start.ENGINE)  # takes minutes

    def behave(behaviour: str, kvm: bool = True) -> Path:
        (folder / "behaviour").write_text(behaviour)
        if kvm:
            (folder / "kvm").touch()
        return folder

    yield behave
    for guest in running.GUESTS.read():
        running.stop(guest)
    shutil.rmtree(folder)
