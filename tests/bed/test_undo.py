"""The clean-up runs step by step: a failed step is reported, stays recorded, and stops no other."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import stackcost.cli.clean  # noqa: F401, registers the command
from stackcost.bed import hugepages, leftovers, lock, network
from stackcost.bed.leftovers import undo_all
from stackcost.bed.local import LocalTestbed
from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError
from stackcost.host import host_sysctl, large_folders
from stackcost.host import state as testbed_state

READ_ONLY = "kernel.ngroups_max"  # of mode 0444: the kernel refuses it to root as well


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own."""
    folder = tmp_path / "state"
    folder.mkdir()
    for module in (testbed_state, lock):
        monkeypatch.setattr(module, "state_folder", lambda: folder)
    return folder


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files in place of the kernel's hugepages; 5 are set."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, value in (("nr_hugepages", 5), ("free_hugepages", 5), ("surplus_hugepages", 0)):
        (folder / name).write_text(str(value))
    monkeypatch.setattr(hugepages, "PAGES", folder)
    return folder


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Path]:
    """A folder that cannot be removed: something is mounted below it."""
    folder = tmp_path / "busy"
    (folder / "mount").mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "stackcost-test", str(folder / "mount")]
    subprocess.run(mount, check=True)
    yield folder
    subprocess.run(["umount", str(folder / "mount")], check=True)


def record(state: Path, name: str, value: object) -> None:
    (state / name).write_text(json.dumps(value))


def recorded(state: Path, name: str) -> object:
    path = state / name
    return json.loads(path.read_text()) if path.exists() else None


def test_a_sysctl_that_the_kernel_refuses_is_reported_and_stays_recorded(state: Path) -> None:
    now = host_sysctl.read(READ_ONLY)
    record(state, "sysctl.json", {READ_ONLY: "1"})
    (step,) = host_sysctl.restore()
    assert not step.done and "Permission denied" in step.reason
    assert f"{READ_ONLY} = {now}" in step.matters
    assert recorded(state, "sysctl.json") == {READ_ONLY: "1"}


def test_a_setting_that_is_written_and_not_kept_is_not_undone(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_sysctl, "ROOT", tmp_path)
    (tmp_path / "kept").write_text("9")
    (tmp_path / "dropped").symlink_to("/dev/null")
    record(state, "sysctl.json", {"kept": "7", "dropped": "7", "of.a.module.that.is.gone": "7"})
    by_name = {step.what.split()[1]: step for step in host_sysctl.restore()}
    assert by_name["kept"].done and (tmp_path / "kept").read_text() == "7"
    assert by_name["of.a.module.that.is.gone"].done
    assert not by_name["dropped"].done
    assert recorded(state, "sysctl.json") == {"dropped": "7"}


def test_hugepages_that_do_not_go_back_are_reported_and_stay_recorded(
    state: Path, pages: Path
) -> None:
    record(state, "hugepages.json", {"nr_hugepages": 3})
    (pages / "surplus_hugepages").write_text("-4")
    (step,) = hugepages.restore()
    assert not step.done and recorded(state, "hugepages.json") == {"nr_hugepages": 3}
    (pages / "surplus_hugepages").write_text("0")
    (step,) = hugepages.restore()
    assert step.done and recorded(state, "hugepages.json") is None


def test_a_folder_that_does_not_go_is_reported_and_stays_recorded(
    state: Path, busy: Path, tmp_path: Path
) -> None:
    free = tmp_path / "free"
    large_folders.make(busy.with_name("free"))
    record(state, "bulky.json", [str(busy), str(free)])
    by_folder = {step.what.split()[-1]: step for step in large_folders.remove()}
    assert by_folder[str(free)].done and not free.exists()
    assert "busy" in by_folder[str(busy)].reason
    assert recorded(state, "bulky.json") == [str(busy)]


@pytest.mark.bed
@pytest.mark.parametrize("content", [b"", b'{"a', b"[1, 2]", b"\xff"])
def test_a_damaged_record_keeps_no_other_from_being_undone(
    state: Path, pages: Path, tmp_path: Path, content: bytes
) -> None:
    folder = tmp_path / "folder"
    large_folders.make(folder)
    record(state, "hugepages.json", {"nr_hugepages": 3})
    (state / "sysctl.json").write_bytes(content)
    (step,) = (step for step in undo_all() if not step.done)
    damaged = state / "sysctl.json.damaged"
    assert str(damaged) in step.what and f"rm {damaged}" in step.reason
    assert damaged.read_bytes() == content, "nobody knows better what it held"
    assert (pages / "nr_hugepages").read_text() == "3" and not folder.exists()
    assert [step.what for step in undo_all()] == [step.what], "told until a person has looked"
    damaged.unlink()
    assert undo_all() == []


@pytest.mark.bed
def test_a_namespace_of_any_part_of_the_suite_is_removed() -> None:
    subprocess.run(["ip", "netns", "add", "stackcost-test-host"], check=True)
    subprocess.run(["ip", "netns", "add", "others"], check=True)
    try:
        assert "stackcost-test-host" in " ".join(step.what for step in undo_all())
        assert network.existing_namespaces() == []
        assert (network.NAMESPACE_FOLDER / "others").exists()
    finally:
        subprocess.run(["ip", "netns", "delete", "others"], check=True)


@pytest.mark.bed
def test_a_namespace_stays_while_a_program_in_it_does_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A program in a system call that does not return cannot be made to end."""
    subprocess.run(["ip", "netns", "add", "stackcost-server"], check=True)
    program = subprocess.Popen(["ip", "netns", "exec", "stackcost-server", "sleep", "1000"])
    try:
        while not leftovers.processes_inside("stackcost-server"):
            pass
        with monkeypatch.context() as patched:
            patched.setattr(leftovers, "end_processes", lambda processes: None)
            programs, namespace = undo_all()
            assert not programs.done and f"sleep ({program.pid})" in programs.reason
            assert not namespace.done and network.existing_namespaces() == ["stackcost-server"]
            with pytest.raises(StackcostError, match="sleep"), LocalTestbed(wanted_hugepages=0):
                pass
    finally:
        undo_all()
        program.kill()
        program.wait()
    assert network.existing_namespaces() == []


@pytest.mark.bed
def test_clean_says_what_was_not_undone_and_fails(state: Path, tmp_path: Path) -> None:
    large_folders.make(tmp_path / "folder")
    record(state, "sysctl.json", {READ_ONLY: "1"})
    said = CliRunner().invoke(app, ["clean"])
    assert said.exit_code == 1
    assert f"done: remove {tmp_path / 'folder'}\n" in said.output
    assert f"NOT done: set {READ_ONLY} back to 1: " in said.output
    record(state, "sysctl.json", {READ_ONLY: host_sysctl.read(READ_ONLY)})
    assert CliRunner().invoke(app, ["clean"]).exit_code == 0
    assert CliRunner().invoke(app, ["clean"]).output == "nothing was left behind\n"


@pytest.mark.bed
def test_a_start_tells_what_could_not_be_undone_and_the_manifest_keeps_it(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(state, "sysctl.json", {READ_ONLY: "1"})
    for _ in range(2):
        with LocalTestbed(wanted_hugepages=0) as bed:
            (told,) = bed.describe()["not_undone"]
            assert READ_ONLY in told and "measurements use this value" in told
    assert capsys.readouterr().err.count(READ_ONLY + " back") == 1, "once for each command"
