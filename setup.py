"""Installs the Python packages and the `stackcost` command, and builds the engine with Meson.

Metadata is in pyproject.toml; this file holds what a declaration cannot say: the engine
is built beside the Python packages, so that one `pip install` gives the whole suite.
`python setup.py build_engine` builds the engine alone.
"""

import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

from setuptools import Command, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
ENGINE_BUILD = ROOT / "build" / "engine"


class BuildEngine(Command):
    """Configure engine/ once into build/engine and build it; with nothing to do, a second."""

    description = "build the engine (Meson and Ninja)"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = []

    def initialize_options(self) -> None:
        """No options."""

    def finalize_options(self) -> None:
        """No options."""

    def run(self) -> None:
        """Build; a missing Meson or a failing compiler ends the install with its message."""
        if shutil.which("meson") is None or shutil.which("ninja") is None:
            raise SystemExit("meson or ninja is missing, they build the engine: script/bootstrap")
        if not (ENGINE_BUILD / "build.ninja").exists():
            setup_command = ["meson", "setup", "--buildtype=release"]
            subprocess.run([*setup_command, str(ENGINE_BUILD), str(ROOT / "engine")], check=True)
        subprocess.run(["ninja", "-C", str(ENGINE_BUILD), "--quiet", "astf-engine"], check=True)


class BuildWithEngine(build_py):
    """`build_py`, which every kind of install runs, preceded by the engine's build."""

    def run(self) -> None:
        """Build the engine, then the Python packages."""
        self.run_command("build_engine")
        super().run()


setup(cmdclass={"build_engine": BuildEngine, "build_py": BuildWithEngine})
