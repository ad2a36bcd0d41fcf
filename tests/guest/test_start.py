"""A guest starts by KVM or by emulation and says which; the command starts, lists and stops."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import yaml
from typer.testing import CliRunner

import stackcost.cli.guest  # noqa: F401, registers the command
from stackcost import files
from stackcost.bed import guest_image as image
from stackcost.bed import guest_running as running
from stackcost.bed import guest_start as start
from stackcost.bed.guest_machine import Machine, Nic
from stackcost.bed.leftovers import undo_settings
from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.hosts import Bed, SshHost
from stackcost.host.waiting import wait_until

Behave = Callable[..., Path]
MACHINE = Machine(nics=(Nic("virtio", 2), Nic("e1000e")))
STARTING = """
import sys
from pathlib import Path
from stackcost.bed import guest_running as running
from stackcost.bed import guest_start as start
from stackcost.bed.guest_machine import Machine
from stackcost.host import state

folder = Path(sys.argv[1])
state.state_folder = running.state_folder = lambda: folder
start.start("b", Machine(), Path(sys.argv[2]), print)
"""


def nothing(_: str) -> None:
    return


def test_by_kvm_where_it_works_and_what_it_prints_are_the_sections_of_an_experiment(
    qemu: Behave, images: Path
) -> None:
    folder = qemu("kvm")
    guest = start.start("b", MACHINE, images, nothing)
    assert guest.emulated == "" and guest.process() is not None
    sent = folder / "guest/stackcost"
    assert (sent / "hosts/agent.py").read_text() == (files.PACKAGE / "hosts/agent.py").read_text()
    assert (sent / "suite/servers/nginx_kernel/server.py").is_file()
    assert (sent / "suite/build/engine/astf-engine").is_file()
    assert list((folder / "guest").glob("stackcost-*.dist-info/METADATA"))
    sections = yaml.safe_load(guest.as_host())
    host = SshHost.model_validate(sections["hosts"]["b"])
    assert (host.address, host.port, host.user) == ("127.0.0.1", guest.port, "root")
    bed = Bed.model_validate(sections["bed"])
    assert bed.server.host == "b" and bed.server.interfaces == ["enp0s16", "enp0s17"]
    assert bed.load.interfaces == ["sc-b0", "sc-b1"]
    assert "timeout_factor" not in sections
    assert running.stop(guest).done
    assert guest.process() is None and running.GUESTS.read() == []


def test_a_kernel_that_hangs_by_kvm_is_emulated_with_the_reason(qemu: Behave, images: Path) -> None:
    qemu("hang")
    said: list[str] = []
    guest = start.start("b", MACHINE, images, said.append)
    assert "a try of KVM failed, it did not answer within 3 s" in guest.emulated
    assert any(guest.emulated in line for line in said)
    assert "timeout_factor: 5 # it is emulated: a try of KVM failed" in guest.as_host()


def test_a_guest_with_a_shared_nic_has_an_engine_while_it_boots(
    qemu: Behave, images: Path, state: Path
) -> None:
    folder = qemu("kvm")
    shared = Machine(nics=(Nic("e1000e"), Nic("vhost-user")))
    guest = start.start("b", shared, images, nothing)
    assert (folder / "engine").exists()
    assert not [each for each in psutil.process_iter(["name"]) if is_first_engine(each)]
    bed = Bed.model_validate(yaml.safe_load(guest.as_host())["bed"])
    device = f"net_vhost1,iface={state}/sc-b1.socket,client=1"
    assert bed.loads[0].interfaces == ["sc-b0", device]
    assert running.stop(guest).done
    assert list(state.glob("*.socket")) == []


def is_first_engine(process: psutil.Process) -> bool:
    return any("first-of-b" in word for word in process.cmdline())


def test_a_guest_that_does_not_start_leaves_nothing(
    qemu: Behave, images: Path, state: Path
) -> None:
    qemu("fail")
    with pytest.raises(StackcostError, match="exit status 1: cannot set up guest memory"):
        start.start("b", MACHINE, images, nothing)
    assert list(state.iterdir()) == [] and running.GUESTS.read() == []


@pytest.mark.parametrize(
    ("name", "machine", "words"),
    [
        ("B", MACHINE, "cannot be named 'B'"),
        ("longnames", MACHINE, "cannot be named"),
        ("b", Machine(nics=(Nic("igb"),)), r"QEMU has no igb \(igb came with QEMU 8\.0"),
    ],
)
def test_what_cannot_be_is_refused(
    qemu: Behave, images: Path, name: str, machine: Machine, words: str
) -> None:
    qemu("kvm")
    with pytest.raises(StackcostError, match=words):
        start.start(name, machine, images, nothing)
    assert running.GUESTS.read() == []


@pytest.mark.parametrize(
    ("program", "package"), [("qemu-system-x86_64", "qemu-system-x86"), ("ssh", "openssh-client")]
)
def test_a_missing_program_is_named_with_its_package(
    qemu: Behave, images: Path, monkeypatch: pytest.MonkeyPatch, program: str, package: str
) -> None:
    folder = qemu("kvm")
    (folder / program).unlink()
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(StackcostError) as error:
        start.start("b", MACHINE, images, nothing)
    assert error.value.what == f"{program} is not installed"
    assert error.value.hint == f"apt-get install {package}"


def test_an_image_needs_its_program_and_says_so(
    qemu: Behave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(qemu("kvm")))
    monkeypatch.setattr(image, "_check_python", lambda: None)  # these tests run on any Python
    with pytest.raises(StackcostError, match="mmdebstrap is not installed; apt-get install mm"):
        start.start("b", MACHINE, tmp_path / "none", nothing)


def test_a_killed_start_is_cleaned_up_and_a_ready_guest_stays(
    qemu: Behave, images: Path, state: Path
) -> None:
    folder = qemu("kvm")
    ready = start.start("a", MACHINE, images, nothing)
    (folder / "ssh").write_text("#!/bin/sh\nsleep 1000\n")
    starting = subprocess.Popen([sys.executable, "-c", STARTING, str(state), str(images)])
    assert wait_until(lambda: any(each.process() for each in other(ready)), 20)
    assert undo_settings() == [], "its starter still lives"
    starting.send_signal(signal.SIGKILL)
    starting.wait()
    (killed,) = other(ready)
    (step,) = undo_settings()
    assert step.done and step.what == "stop guest b"
    assert killed.process() is None and ready.process() is not None
    assert [each.name for each in running.GUESTS.read()] == ["a"]


def other(guest: running.Guest) -> list[running.Guest]:
    return [each for each in running.GUESTS.read() if each.name != guest.name]


def test_a_name_is_used_once_and_a_guest_that_ended_by_itself_is_forgotten(
    qemu: Behave, images: Path
) -> None:
    qemu("kvm")
    guest = start.start("b", MACHINE, images, nothing)
    with pytest.raises(StackcostError, match="stackcost guest stop b"):
        start.start("b", MACHINE, images, nothing)
    process = guest.process()
    assert process is not None
    process.kill()
    process.wait()
    (step,) = undo_settings()
    assert step.done and running.GUESTS.read() == []


def test_an_image_that_was_not_finished_is_removed(state: Path, tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    unfinished = tmp_path / "debian.unfinished"
    (unfinished / "tree").mkdir(parents=True)
    (state / "guest-images.json").write_text(json.dumps({str(unfinished): ended.pid}))
    (step,) = undo_settings()
    assert step.done and not unfinished.exists() and image.MAKING.read() == {}


def test_without_kvm_it_is_emulated_with_the_reason_and_an_engine_for_any_processor(
    qemu: Behave, images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    portable = tmp_path / "portable"
    portable.write_text("for any processor")
    monkeypatch.setattr(start, "portable_engine", lambda say: say("building it") or portable)
    said: list[str] = []
    folder = qemu("kvm", kvm=False)
    sent = folder / "guest/stackcost/suite/build/engine/astf-engine"
    guest = start.start("a", MACHINE, images, said.append)
    assert guest.emulated == f"there is no {folder / 'kvm'}"
    running.stop(guest)
    assert sent.read_text() == "for any processor" and "building it" in said
    qemu("kvm")
    start.start("b", MACHINE, images, nothing)
    assert sent.read_bytes() == start.ENGINE.read_bytes()


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
