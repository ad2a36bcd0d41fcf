"""Installs the Python packages and the `stackcost` command, and builds the engine with Meson.

Metadata is in pyproject.toml; this file holds what a declaration cannot say: the engine is built
with the Python packages, so that one `pip install` gives the whole suite. An editable install uses
build/engine, which is built for this machine. A wheel takes an engine of its own, for any machine.
`python setup.py build_engine` builds the engine alone.
"""

import json
import platform
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
ENGINE_BUILD = ROOT / "build" / "engine"
PORTABLE_BUILD = ROOT / "build" / "package"


class BuildEngine(Command):
    """Configure engine/ once and build it; with nothing to do, a second."""

    description = "build the engine (Meson and Ninja)"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = [
        ("portable", None, "for other machines too, in build/package"),
        ("werror", None, "warnings of the compiler are errors, from now on in that folder"),
    ]
    boolean_options: ClassVar[list[str]] = ["portable", "werror"]

    def initialize_options(self) -> None:
        """By default the engine is for this machine, and a newer compiler may warn."""
        self.portable = False
        self.werror = False

    def finalize_options(self) -> None:
        """Nothing follows from the options."""

    def run(self) -> None:
        """Build; a missing Meson or a failing compiler ends the install with its message."""
        if shutil.which("meson") is None or shutil.which("ninja") is None:
            raise SystemExit("meson or ninja is missing, they build the engine: script/bootstrap")
        if self.portable and platform.machine() != "x86_64":
            raise SystemExit("packages are for x86_64 only; elsewhere use a checkout")
        folder = PORTABLE_BUILD if self.portable else ENGINE_BUILD
        if not (folder / "build.ninja").exists():
            portable = f"-Dportable={str(bool(self.portable)).lower()}"  # the option sets 1
            setup_command = ["meson", "setup", "--buildtype=release", portable]
            call([*setup_command, str(folder), str(ROOT / "engine")])
        if self.werror and not has_werror(folder):
            call(["meson", "configure", "-Dwerror=true", str(folder)])
        call(["ninja", "-C", str(folder), "--quiet", "astf-engine"])


def call(command: list[str]) -> None:
    """Run a program; if it fails, what it printed stays the last that is read."""
    if failed := subprocess.run(command).returncode:
        raise SystemExit(f"{command[0]} ended with {failed}")


def has_werror(folder: Path) -> bool:
    """Whether Meson's folder is configured so; asking first spares a second configuration."""
    known = folder / "meson-info" / "intro-buildoptions.json"
    options = json.loads(known.read_text()) if known.exists() else []
    return any(each["name"] == "werror" and each["value"] for each in options)


class BuildSuite(build_py):
    """`build_py`, which every kind of install runs, with the engine and the suite's other files."""

    def run(self) -> None:
        """Build the engine, then the Python packages; a wheel gets the suite's files, too."""
        command = self.get_finalized_command("build_engine")
        assert isinstance(command, BuildEngine)
        command.portable = not self.editable_mode
        self.run_command("build_engine")
        super().run()
        if not self.editable_mode:
            pack_suite(Path(self.build_lib, "stackcost", "suite"))


def pack_suite(to: Path) -> None:
    """Copy what is no module of the package, and the engine that other machines can run."""
    shutil.rmtree(to, ignore_errors=True)
    for name in runpy.run_path(str(ROOT / "harness/stackcost/files.py"))["NAMES"]:
        source, copy = ROOT / name, to / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, copy)
    engine = to / "build/engine/astf-engine"
    engine.parent.mkdir(parents=True)
    subprocess.run(["strip", "-o", str(engine), str(PORTABLE_BUILD / "astf-engine")], check=True)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on one platform: it has a program in it, but no extension module."""

    def get_tag(self) -> tuple[str, str, str]:
        """The platform's tag alone matters."""
        return "py3", "none", super().get_tag()[2]


class Suite(Distribution):
    """What is for one platform, though setuptools sees nothing that it compiles."""

    def has_ext_modules(self) -> bool:
        """Decides on the platform's tag, and on where the packages go."""
        return True


setup(
    distclass=Suite,
    cmdclass={
        "build_engine": BuildEngine,
        "build_py": BuildSuite,
        "bdist_wheel": PlatformWheel,
    },
)
