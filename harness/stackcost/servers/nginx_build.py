"""The installed nginx: where it is, and how it was built."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from stackcost.host.namespace import find_program

PROXYING_MODULES = ("proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, slots=True)
class Build:
    """The nginx installed here: its path, version, and modules that are compiled in by default.

    `configured`: what `nginx -V` prints of its build.
    """

    path: str
    version: str
    proxying_modules: tuple[str, ...]
    configured: str = ""


def find_build() -> Build:
    """Ask the installed nginx what it is; StackcostError when there is none."""
    path = find_program("nginx")
    said = subprocess.run([path, "-V"], capture_output=True, text=True).stderr
    version = said.partition("\n")[0].removeprefix("nginx version: ")
    modules = (name for name in PROXYING_MODULES if f"--without-http_{name}_module" not in said)
    return Build(path, version, tuple(modules), said)


def affinity_masks(workers: int, cpus: Sequence[int]) -> list[str]:
    """One binary mask for each worker, cores in turn, as worker_cpu_affinity wants them."""
    return [f"{1 << cpus[worker % len(cpus)]:b}" for worker in range(workers)]
