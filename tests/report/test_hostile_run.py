"""Reading a stored run executes nothing of it, and writes nothing outside of it."""

import ast
import functools
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackcost.files import IMPORTED_FROM, NOTEBOOKS
from stackcost.report.results.computed import computed
from tests.report.hostile import hostile_run, lay_links

# Every command that reads, one after the other as a user in the run's own folder; what was executed
# or started meanwhile is told by the interpreter itself.
READ = """
import os, sys
run, history, out = sys.argv[1:]
told = set()
def watch(event, arguments):
    if event == "exec" and str(arguments[0].co_filename).startswith(run):
        told.add("executed " + arguments[0].co_filename)
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
        words = [str(word) for word in arguments[1] or ()]
        if "ipykernel_launcher" not in words:
            told.add(f"started {arguments[0]} {words}")
import stackcost.cli.entry as entry
from typer.testing import CliRunner
sys.addaudithook(watch)
for words in (
    ["ls", os.path.dirname(run)],
    ["show", run],
    ["export", run, "--out", out],
    ["diff", run, run],
    ["trend", history],
    ["report", "."],
):
    done = CliRunner().invoke(entry.app, words)
    print(words[0], done.exit_code, repr(done.exception))
for line in sorted(told):
    print(line)
# The last one takes seconds to compile its grammars, which nothing here needs.
for name in ("stackcost.servers.registry", "stackcost.trex.trex_api", "rfc3987_syntax"):
    if name in sys.modules:
        print("imported", name)
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(IMPORTED_FROM)}


def test_no_command_that_reads_executes_or_starts_what_a_run_names(tmp_path: Path) -> None:
    marker, victim = tmp_path / "executed", tmp_path / "victim"
    victim.write_text("as it was")
    run = hostile_run(tmp_path / 'its "];name', marker)
    lay_links(run, victim)
    history = tmp_path / "history.jsonl"
    history.write_text("")
    done = subprocess.run(
        [sys.executable, "-P", "-c", READ, run.path, history, tmp_path / "figures.csv"],
        cwd=run.path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert not marker.exists(), done.stdout
    commands = ("ls", "show", "export", "diff", "trend", "report")
    assert done.stdout.splitlines() == [f"{name} 0 None" for name in commands], done.stderr
    assert victim.read_text() == "as it was"


def test_lab_executes_nothing_of_a_run_and_opens_copies_of_the_notebooks(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    run = hostile_run(tmp_path / "results", marker)
    run.write_summary(computed(run))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home, runtime = tmp_path / "home", tmp_path / "runtime"
    changed = home / "stackcost-notebooks" / "trust.ipynb"
    changed.parent.mkdir(parents=True)
    changed.write_text("the reader's")
    lab = subprocess.Popen(
        [sys.executable, "-P", "-m", "stackcost", "lab", ".", "--port", str(port)],
        cwd=run.path,
        env=ENVIRONMENT | {"HOME": str(home), "JUPYTER_RUNTIME_DIR": str(runtime)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 200
        while not _listens(port) and lab.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        assert _listens(port)
        (served,) = runtime.glob("jpserver-*.json")
        assert json.loads(served.read_text())["root_dir"] == str(changed.parent)
    finally:
        os.killpg(lab.pid, 15)
        lab.wait()
    assert not marker.exists()
    copies = {copy.name: copy.read_bytes() for copy in changed.parent.iterdir()}
    assert copies.pop("trust.ipynb") == b"the reader's"
    suite = {path.name: path.read_bytes() for path in NOTEBOOKS.glob("*.ipynb")}
    assert copies == {name: content for name, content in suite.items() if name != "trust.ipynb"}


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


# What reading has no way to: code that runs other people's files, or changes the machine.
CLOSED = (
    "stackcost.servers",
    "stackcost.duts",
    "stackcost.collect",
    "stackcost.stacks",
    "stackcost.trex",
    "stackcost.bed",
    "stackcost.clients",
    "stackcost.session",
)
STARTS = {"stackcost.cli.lab": {"subprocess"}, "stackcost.report.notebook": {"nbclient"}}
LOADERS = {
    "importlib",
    "importlib.util",
    "importlib.machinery",
    "runpy",
    "pickle",
    "subprocess",
    "nbclient",
}


@pytest.mark.parametrize("command", ["report", "show", "export", "diff", "ls", "trend", "lab"])
def test_a_command_that_reads_has_no_way_to_what_loads_code(command: str) -> None:
    ways = _reached(f"stackcost.cli.{command}")
    for module, way in ways.items():
        assert not f"{module}.".startswith(tuple(f"{name}." for name in CLOSED)), way
        used = _imports(module) & LOADERS
        assert used <= STARTS.get(module, set()), f"{way} imports {used}"
        calls = {node.id for node in ast.walk(_tree(module)) if isinstance(node, ast.Name)}
        assert not calls & {"exec", "eval", "compile", "__import__"}, way


def _reached(root: str) -> dict[str, str]:
    """The project's modules that `root` imports, whenever it does, each with the way to it."""
    ways, left = {root: root}, [root]
    while left:
        module = left.pop()
        names = _imports(module)
        packages = {name.rpartition(".")[0] for name in names} - {"stackcost.cli"}
        for name in names | packages:
            if name and name not in ways and _path(name):
                ways[name] = f"{ways[module]} > {name}"
                left.append(name)
    return ways


def _path(module: str) -> Path | None:
    place = IMPORTED_FROM / module.replace(".", "/")
    found = (path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file())
    return next(found, None)


@functools.cache
def _tree(module: str) -> ast.Module:
    path = _path(module)
    assert path
    return ast.parse(path.read_text())


@functools.cache
def _imports(module: str) -> set[str]:
    """Names that its text imports anywhere, but for type checking."""
    tree, names = _tree(module), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            node.body.clear()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return names
