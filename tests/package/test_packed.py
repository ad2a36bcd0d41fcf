"""What a package declares fits what the repository has; script/check-package tries a built one."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from stackcost import files
from stackcost.contracts.errors import StackcostError
from stackcost.host.debian import PACKAGES
from stackcost.trex import portable_engine as portable

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
CODE = ("harness", "servers", "duts")


def tracked(*folders: str) -> list[str]:
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\n") if name and (REPOSITORY / name).is_file()]


def test_every_file_of_the_package_is_packed() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    for name in tracked("harness"):
        packed = any(Path(name).match(pattern) for pattern in [*patterns, "*.py"])
        assert packed, f"{name} would not be in a wheel"


def test_the_suite_is_packed_whole_and_without_what_runs_leave(tmp_path: Path) -> None:
    for name in (*files.NAMES, "harness/stackcost/files.py", "setup.py"):
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy)(REPOSITORY / name, copy)
    (tmp_path / "servers/__pycache__").mkdir(exist_ok=True)
    portable = tmp_path / "build/package/astf-engine"
    portable.parent.mkdir(parents=True)
    shutil.copy("/bin/true", portable)
    pack = (
        "import runpy, sys, pathlib; sys.argv = ['setup.py', '--version'];"
        "runpy.run_path('setup.py')['pack_suite'](pathlib.Path('packed'))"
    )
    subprocess.run([sys.executable, "-c", pack], cwd=tmp_path, check=True, capture_output=True)
    packed = {
        str(path.relative_to(tmp_path / "packed"))
        for path in (tmp_path / "packed").rglob("*")
        if path.is_file()
    }
    assert packed - set(tracked(*files.NAMES)) == {"build/engine/astf-engine"}
    assert set(tracked(*files.NAMES)) <= packed


def test_every_package_that_is_imported_is_asked_for() -> None:
    """By name: what another package brings may be gone with its next version.

    All but `trex`, which lbr-trex-client has in a folder of its own.
    """
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"]]
    asked += [
        each for extra in ("notebooks", "hosts", "http3", "beds", "live") for each in extras[extra]
    ]
    asked.append("pytest")
    known = {re.split(r"[=<>]", each)[0].lower() for each in asked}
    distributions = packages_distributions()
    faults = set()
    for name in tracked(*CODE):
        if not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse((REPOSITORY / name).read_text())):
            found = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found = [node.module]
            for package in {each.partition(".")[0] for each in found} - {"stackcost", "trex"}:
                # What is not installed here has the name that is imported.
                of = distributions.get(package, [package])
                brings = {each.lower().replace("_", "-") for each in of}
                if package not in sys.stdlib_module_names and not brings & known:
                    faults.add(f"{name} imports {package}")
    assert not faults


def test_measuring_needs_no_notebooks_and_every_extra_is_locked() -> None:
    project = PROJECT["project"]
    asked = " ".join(project["dependencies"])
    for heavy in ("jupyterlab", "matplotlib", "nbclient", "nbconvert", "pytest", "sphinx"):
        assert heavy not in asked
    assert set(project["optional-dependencies"]) == set(PROJECT["tool"]["uv"]["pip"]["extra"])


def test_a_container_has_the_packages_that_the_doctor_asks_for() -> None:
    recipe = (REPOSITORY / "Containerfile").read_text()
    (listed,) = re.findall(r"--no-install-recommends \\\n(.*?)&&", recipe, re.DOTALL)
    assert sorted(listed.replace("\\", "").split()) == sorted(
        [*PACKAGES, "python3", "python3-venv"]
    )
    (base,) = re.findall(r"^ARG BASE=(.*)$", recipe, re.MULTILINE)
    assert "/" not in base and "." not in base, "a registry is the builder's to name"


def test_what_a_run_needs_is_what_bootstrap_installs() -> None:
    """Or comes with it: build-essential brings gcc, development packages bring their libraries."""
    brought = {"gcc", "libc6-dev", "util-linux", "libzmq5", "libpcap0.8", "libssl3"}
    assert set(PACKAGES) - brought <= set(files.DEBIAN_PACKAGES.read_text().split())


@pytest.mark.parametrize("script", ["package", "check-package", "release", "bootstrap"])
def test_scripts_are_sound(script: str) -> None:
    path = REPOSITORY / "script" / script
    done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and path.stat().st_mode & 0o100, done.stderr


def build_tools(folder: Path, does: str) -> None:
    """Meson and Ninja that do what a line of shell says, beside the setup.py that calls them."""
    for name in ("meson", "ninja"):
        (folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (folder / name).chmod(0o755)
    shutil.copy(REPOSITORY / "setup.py", folder)


@pytest.mark.parametrize(("option", "told"), [("--portable", "true"), ("--quiet", "false")])
def test_the_engine_alone_is_built_for_other_machines_too(
    option: str, told: str, tmp_path: Path
) -> None:
    """Meson takes true and false, and an option of a command line sets 1."""
    build_tools(tmp_path, f'echo $(basename $0) "$@" >>{tmp_path}/said')
    command = [sys.executable, "setup.py", "build_engine", option]
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PATH": path}, check=True)
    said = (tmp_path / "said").read_text()
    assert said.startswith(f"meson setup --buildtype=release -Dportable={told} ")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One in which no engine is built for other machines."""
    monkeypatch.setattr(portable, "SUITE", tmp_path)
    monkeypatch.setattr(portable, "BUILT", tmp_path / "build/package/astf-engine")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    portable._build.cache_clear()
    return tmp_path


def test_who_needs_an_engine_for_other_machines_gets_it_built(checkout: Path) -> None:
    build_tools(checkout, "mkdir -p build/package; echo built >build/package/astf-engine")
    said: list[str] = []
    assert portable.portable_engine(said.append).read_text() == "built\n"
    assert len(said) == 1 and "building" in said[0] and "minutes" in said[0]
    assert portable.portable_engine(said.append).read_text() == "built\n" and len(said) == 1


def test_an_engine_that_cannot_be_built_says_why(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_tools(checkout, "echo no such header; exit 1")
    with pytest.raises(StackcostError, match=r"was not built: (.|\n)*no such header"):
        portable.portable_engine()
    monkeypatch.setattr(portable.os, "access", lambda path, mode: False)
    with pytest.raises(StackcostError, match="cannot be written") as refused:
        portable.portable_engine()
    assert refused.value.hint and f"cd {checkout} && " in refused.value.hint
    portable.BUILT.parent.mkdir(parents=True)
    portable.BUILT.touch()
    assert portable.portable_engine() == portable.BUILT


def test_the_tests_build_with_warnings_as_errors_and_a_users_engine_does_not() -> None:
    assert "script/bootstrap --werror\n" in (REPOSITORY / "script/test").read_text()
    for settings in ("fuzz/clang.ini", "thread-sanitizer.ini"):
        assert "\nwerror = true\n" in (REPOSITORY / "engine/tests" / settings).read_text()


@pytest.mark.parametrize(
    ("option", "before", "wanted"), [("--werror", False, 1), ("--werror", True, 0), ("", False, 0)]
)
def test_a_folder_becomes_one_with_warnings_as_errors_once(
    option: str, before: bool, wanted: int, tmp_path: Path
) -> None:
    for name in ("meson", "ninja"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >>{tmp_path}/said\n')
        program.chmod(0o755)
    known = tmp_path / "build/engine/meson-info/intro-buildoptions.json"
    known.parent.mkdir(parents=True)
    known.write_text(json.dumps([{"name": "werror", "value": before}]))
    shutil.copy(REPOSITORY / "setup.py", tmp_path)
    command = [sys.executable, "setup.py", "build_engine", *option.split()]
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PATH": path}, check=True)
    said = (tmp_path / "said").read_text()
    assert said.count("meson configure -Dwerror=true ") == wanted


def test_the_check_of_a_package_succeeds_and_leaves_nothing(tmp_path: Path) -> None:
    """Its steps take minutes and a test bed; here each of them is nothing."""
    script = (REPOSITORY / "script/check-package").read_text()
    body = script.partition("\nmain() {\n")[2].partition("\n}\n")[0]
    steps = re.findall(r"^  (\w+)(?: \"\$.*)?$", body, re.MULTILINE)
    assert len(steps) > 4
    replaced = " ".join(f"{step}() {{ :; }};" for step in steps)
    command = f". script/check-package; {replaced} main README.md"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=REPOSITORY,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


def test_a_release_has_something_to_tell() -> None:
    changes = (REPOSITORY / "CHANGELOG.md").read_text()
    version = PROJECT["project"]["version"]
    assert "## Next\n" in changes or f"## {version}\n" in changes
