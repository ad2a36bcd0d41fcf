"""Builds the suite's programs in Rust and Go when they are asked for, once for each version.

Their sources are packed with the suite, and every library is locked in one version by the lock file
next to them. What is built stays in `PROGRAMS`, under the hash of the sources.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from stackcost.contracts.errors import StackcostError
from stackcost.host.timeouts import scaled_timeout

PROGRAMS = Path("/var/cache/stackcost/programs")
BUILD_TIMEOUT_S = 1800
SOURCES = (".rs", ".toml", ".lock", ".go", ".mod", ".sum")
UNFINISHED = ".unfinished-"  # and the process that builds there
WORDS = 60  # of the end of what a build printed, in an error


@dataclass(frozen=True, slots=True)
class Tool:
    """What builds programs of one language. `version`: its arguments that print it.

    `place`: where its installer puts it, below the home folder or the root. `how`: to install it.
    """

    name: str
    version: tuple[str, ...]
    place: str
    how: str

    def find(self) -> str | None:
        """Its path; None if it is not installed."""
        place = str(Path(self.place).expanduser())
        return shutil.which(self.name) or shutil.which(self.name, path=place)

    def release(self) -> tuple[int, int] | None:
        """Its version, as (1, 26); None if it is not installed."""
        path = self.find()
        said = _said([path, *self.version]) if path else ""
        found = re.search(r"\b(?:go)?(\d+)\.(\d+)", said)
        return (int(found[1]), int(found[2])) if found else None


CARGO = Tool(
    "cargo",
    ("--version",),
    "~/.cargo/bin",
    "install rustup, then: rustup default stable",
)
GO = Tool(
    "go",
    ("version",),
    "/usr/local/go/bin",
    "download a release of Go, then: tar -C /usr/local -xzf go*.linux-*.tar.gz",
)


@dataclass(frozen=True, slots=True)
class NativeProgram:
    """One program of the suite. `folder`: its sources, with Cargo.toml or go.mod.

    `needs`: the lowest release of the tool that builds it. `shows`: those of its libraries whose
    versions a figure should be read with. `package`: of Go, by default the folder.
    """

    name: str
    folder: Path
    tool: Tool
    needs: tuple[int, int]
    shows: tuple[str, ...]
    package: str = "."

    def lacks(self) -> str:
        """Why it can be neither run nor built here, with what to do; empty if it can."""
        if self.path.exists():
            return ""
        release = self.tool.release()
        if release is not None and release >= self.needs:
            return ""
        wanted = f"{self.tool.name} {self.needs[0]}.{self.needs[1]}"
        here = "not installed" if release is None else f"{release[0]}.{release[1]} here"
        return f"{self.name} is built by {wanted}, which is {here}; {self.tool.how}"

    @property
    def path(self) -> Path:
        """Where it is when it has been built from the sources as they are now."""
        return PROGRAMS / f"{self.name}-{_hash(self.folder)}" / self.name

    def libraries(self) -> dict[str, str]:
        """The locked versions of the libraries that it shows."""
        lock = self.folder / ("Cargo.lock" if self.tool is CARGO else "go.mod")
        pairs = re.findall(r'"?([\w./-]+)"?\s+(?:version = ")?(v?\d[^\s"]*)', lock.read_text())
        return {name: version for name, version in pairs if name in self.shows}

    def build(self) -> Path:
        """Build it unless that was done; StackcostError with the tool's words if it fails.

        It takes minutes. A second build at the same time does no harm: the later one is dropped.
        """
        wanted = self.path
        if wanted.exists():
            return wanted
        if why := self.lacks():
            what, _, how = why.partition("; ")
            raise StackcostError(what, how)
        PROGRAMS.mkdir(parents=True, exist_ok=True)
        _remove_unfinished()
        prefix = f"{self.name}{UNFINISHED}{os.getpid()}-"
        with tempfile.TemporaryDirectory(dir=PROGRAMS, prefix=prefix) as place:
            made = self._made(Path(place))
            ready = Path(place) / "ready"
            ready.mkdir()
            made.rename(ready / self.name)
            try:
                ready.rename(wanted.parent)
            except OSError:  # somebody else was faster
                if not wanted.exists():
                    raise
        return wanted

    def _made(self, place: Path) -> Path:
        """The program, made in a folder that is removed afterwards."""
        tool = self.tool.find()
        assert tool is not None  # else it lacks
        if self.tool is CARGO:
            path = place / "target" / "release" / self.name
            arguments = ["build", "--release", "--locked", "--bin", self.name]
            arguments += ["--target-dir", str(place / "target")]
            _build([tool, *arguments], self.folder, {}, self.name)
        else:
            path = place / self.name
            arguments = ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o", str(path)]
            # The Go that is here, not one that it would fetch by itself.
            local = {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
            _build([tool, *arguments, self.package], self.folder, local, self.name)
        return path


def _remove_unfinished() -> None:
    """What builds left that were killed."""
    for path in PROGRAMS.glob(f"*{UNFINISHED}*"):
        maker = path.name.partition(UNFINISHED)[2].partition("-")[0]
        if maker.isdigit() and not psutil.pid_exists(int(maker)):
            shutil.rmtree(path, ignore_errors=True)


def _hash(folder: Path) -> str:
    """Of the sources: a change of one is another program."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in SOURCES:
            whole.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return whole.hexdigest()[:12]


def _build(command: list[str], folder: Path, more: Mapping[str, str], name: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "CARGO_TARGET_DIR"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment | dict(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=scaled_timeout(BUILD_TIMEOUT_S),
        )
    except subprocess.TimeoutExpired as error:
        raise StackcostError(f"{name} was not built in {error.timeout:g} s") from error
    if done.returncode != 0:
        said = " ".join(done.stdout.split()[-WORDS:])
        raise StackcostError(f"{name} was not built: {said}", f"in {folder}: {' '.join(command)}")


def _said(command: list[str]) -> str:
    """What a short command prints; empty if it cannot be run."""
    try:
        # From a folder without go.mod: there Go would look for the release that it names.
        done = subprocess.run(
            command, capture_output=True, text=True, cwd="/", timeout=scaled_timeout(10)
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
