"""Programs that the suite builds when they are asked for: what is missing, what is built, when."""

import os
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.host import native
from stackcost.host.native import CARGO, GO, NativeProgram, Tool
from stackcost.servers.registry import server_class

Rustls = server_class("rustls/kernel")

MAIN = 'package main\n\nfunc main() { print("%s") }\n'


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache of its own, as on a machine where nothing was built."""
    place = tmp_path / "programs"
    monkeypatch.setattr(native, "PROGRAMS", place)
    return place


def small(folder: Path, says: str, release: tuple[int, int] = (1, 1)) -> NativeProgram:
    folder.mkdir()
    (folder / "go.mod").write_text("module example/small\n\ngo 1.18\n")
    (folder / "main.go").write_text(MAIN % says)
    return NativeProgram("small", folder, GO, release, ())


def tool_that_says(folder: Path, said: str) -> Tool:
    path = folder / "go"
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return Tool(str(path), (), "/nowhere", "do this")


def test_a_missing_tool_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Tool, "find", lambda self: None)
    assert Rustls.lacks() == (
        "rustls-server is built by cargo 1.85, which is not installed; "
        "install rustup, then: rustup default stable"
    )
    with pytest.raises(StackcostError, match=r"small is built by go 1\.26.*not installed") as told:
        small(tmp_path / "small", "one", (1, 26)).build()
    assert told.value.hint.startswith("download a release of Go")


@pytest.mark.parametrize(
    ("said", "release"),
    [
        ("go version go1.19.8 linux/amd64", (1, 19)),
        ("go version go1.26.3 linux/amd64", (1, 26)),
        ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", (1, 95)),
        ("an error", None),
    ],
)
def test_an_old_tool_is_told_from_a_new_one(
    said: str, release: tuple[int, int] | None, tmp_path: Path
) -> None:
    tool = tool_that_says(tmp_path, said)
    assert tool.release() == release
    lacking = NativeProgram("small", tmp_path, tool, (1, 26), ()).lacks()
    assert bool(lacking) is (release is None or release < (1, 26))
    if release == (1, 19):
        assert "1.26, which is 1.19 here; do this" in lacking


def test_locked_versions_are_read_from_both_kinds_of_lock_file(tmp_path: Path) -> None:
    rust = Rustls.native.libraries()
    assert set(rust) == set(Rustls.native.shows) and rust["rustls"].startswith("0.23.")
    (tmp_path / "go.mod").write_text(
        "module a/b\n\ngo 1.26\n\nrequire (\n\tx.dev/y v0.2.1\n\tx.dev/z v3.0.0 // indirect\n)\n"
    )
    go = NativeProgram("small", tmp_path, GO, (1, 26), ("x.dev/y",))
    assert go.libraries() == {"x.dev/y": "v0.2.1"}


@pytest.mark.skipif(not GO.find(), reason="Go is not installed")
def test_a_program_is_built_once_for_each_version_of_its_sources(
    programs: Path, tmp_path: Path
) -> None:
    first = small(tmp_path / "first", "one")
    made = first.build()
    assert native._said([str(made)]) == "" and made.is_file()  # print writes to the error output
    before = made.stat().st_mtime_ns
    assert first.build() == made and made.stat().st_mtime_ns == before
    assert not small(tmp_path / "same", "one", release=(99, 0)).lacks(), "it is built already"
    other = small(tmp_path / "other", "two")
    assert other.path != made and other.build() != made
    assert sorted(path.name for path in programs.iterdir()) == sorted(
        [made.parent.name, other.path.parent.name]
    )


@pytest.mark.skipif(not GO.find(), reason="Go is not installed")
def test_what_a_killed_build_left_is_removed_and_a_running_one_is_not(
    programs: Path, tmp_path: Path
) -> None:
    highest = int(Path("/proc/sys/kernel/pid_max").read_text())
    killed, running = (programs / f"other.unfinished-{pid}-x" for pid in (highest + 1, os.getpid()))
    for folder in (killed, running):
        (folder / "target").mkdir(parents=True)
    made = small(tmp_path / "small", "one").build()
    assert set(programs.iterdir()) == {made.parent, running}


@pytest.mark.skipif(not GO.find(), reason="Go is not installed")
def test_a_failed_build_quotes_the_tool_and_leaves_nothing(programs: Path, tmp_path: Path) -> None:
    broken = small(tmp_path / "broken", '" + nothing + "')
    with pytest.raises(StackcostError, match=r"small was not built: .*undefined: nothing"):
        broken.build()
    assert not list(programs.iterdir())


def test_the_tools_are_looked_for_where_their_installers_put_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".cargo/bin").mkdir(parents=True)
    cargo = tmp_path / ".cargo/bin/cargo"
    cargo.write_text("#!/bin/sh\n")
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert CARGO.find() == str(cargo)
