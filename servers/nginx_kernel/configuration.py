"""nginx's configuration file, rendered for one machine and one installed nginx."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stackcost.host.namespace import find_program
from stackcost.servers.template import render_template

PROXYING_MODULES = ("proxy", "fastcgi", "uwsgi", "scgi")
Directives = Mapping[str, Mapping[str, str]]  # values by name, by context: main, events, http


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


def render(build: Build, **settings: object) -> str:
    """The text of nginx.conf; every value the template names has to be given."""
    template = Path(__file__).with_name("nginx.conf.j2")
    return render_template(template, proxying_modules=build.proxying_modules, **settings)
