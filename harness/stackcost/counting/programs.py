"""The programs of counting that are compiled on this machine, once for each QEMU: agent, plugin."""

import hashlib
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.counting.kernel import cache_folder
from stackcost.host.debian import install_command
from stackcost.host.namespace import find_program
from stackcost.trex.portable_engine import portable_engine

HERE = Path(__file__).parent
# The version of QEMU's interface for plugins, by the first version of QEMU that has it
# (docs/devel/tcg-plugins.rst there). This code uses the same of all but 3, where the bytes of an
# instruction are copied.
INTERFACES = (((10, 1), 5), ((9, 2), 4), ((9, 1), 3), ((9, 0), 2), ((0, 0), 1))


def agent_program() -> Path:
    """The agent, linked statically: it runs before the guest has any files."""
    return _compiled("agent.c", "agent", ["-O2", "-static"])


def known_program() -> Path:
    """Work of a known number of instructions, for the self-check."""
    return _compiled("known.c", "known", ["-O1", "-static"])


def plugin_library() -> Path:
    """The plugin, for the interface of this machine's QEMU."""
    flags = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden"]
    return _compiled("plugin.c", "plugin.so", [*flags, f"-DAPI_VERSION={interface_version()}"])


def check_programs(say: Callable[[str], None]) -> None:
    """Before a run begins: build the engine for emulated processors; StackcostError without QEMU.

    `say` is told of what takes minutes.
    """
    qemu_version()
    portable_engine(say)


@cache
def qemu_version() -> str:
    """Of the QEMU here, such as 7.2.22."""
    program = find_program("qemu-system-x86_64", install_command(["qemu-system-x86"]))
    told = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+\.\d+[\d.]*)", told)
    if not found:
        raise StackcostError(f"{program} --version told no version: {told.strip()!r}")
    return found[1]


def interface_version() -> int:
    """Of QEMU's plugin interface."""
    major, minor = map(int, qemu_version().split(".")[:2])
    return next(number for since, number in INTERFACES if (major, minor) >= since)


def _compiled(source: str, name: str, flags: list[str]) -> Path:
    text = (HERE / source).read_bytes()
    key = hashlib.sha256(text + " ".join(flags).encode()).hexdigest()[:12]
    target = cache_folder() / f"{key}-{name}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        compiler = find_program("cc", install_command(["build-essential"]))
        unfinished = target.with_name(f"{target.name}.new")
        command = [compiler, *flags, "-o", str(unfinished), str(HERE / source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise StackcostError(f"{source} was not compiled: {done.stderr.strip()[-1000:]}")
        unfinished.rename(target)
    return target
