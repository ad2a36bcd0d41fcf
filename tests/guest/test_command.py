"""`stackcost guest` starts, lists and stops."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import stackcost.cli.guest  # noqa: F401, registers the command
from stackcost.bed import guest_running as running
from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError


def test_a_guest_is_started_listed_and_stopped(qemu: Callable[..., Path], images: Path) -> None:
    qemu("kvm")
    begin = ["guest", "start", "b", "--nic", "e1000e", "--images", str(images)]
    begin += ["--cores", "4", "--nodes", "2"]
    started = CliRunner().invoke(app, begin)
    assert started.exit_code == 0, started.output
    (guest,) = running.GUESTS.read()
    assert (guest.machine.cores, guest.machine.nodes) == (4, 2)
    listed = CliRunner().invoke(app, ["guest", "list"])
    assert "# b: booting by KVM" in started.output and listed.output in started.output
    assert "enp0s16: e1000e, PCI address 0000:00:10.0" in listed.output
    stopped = CliRunner().invoke(app, ["guest", "stop", "b"])
    assert (stopped.exit_code, stopped.output) == (0, "done: stop guest b\n")
    assert CliRunner().invoke(app, ["guest", "list"]).output == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [(["start"], "which guest is to start"), (["stop", "b"], "there is no guest b")],
)
def test_what_it_cannot_do_it_says(state: Path, words: list[str], said: str) -> None:
    error = CliRunner().invoke(app, ["guest", *words]).exception
    assert isinstance(error, StackcostError) and said in error.what
