"""Finds the tuning tiers, and checks which of them this machine can use."""

import glob
import shutil
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.tuning import Tier
from stackcost.host.yaml_file import read_yaml

FOLDER = Path(__file__).parent / "tiers"
SUFFIX = ".yaml"


def tier_lacks(tier: Tier, server_cores: int) -> str:
    """Why this machine cannot measure a tier with this number of cores; empty if it can."""
    if tier.receive.apart and server_cores < 2:
        return f"it needs 2 server cores, but the experiment has {server_cores}"
    devices, calls, found = tier.needs.devices, tier.needs.calls, []
    if devices and not glob.glob(devices):
        found.append(f"a device {devices}, which does not exist")
    if calls and calls not in _symbols():
        found.append(f"an nginx that calls {calls}, which the one in PATH does not")
    return f"it needs {' and '.join(found)}; {tier.needs.hint}" if found else ""


def _symbols() -> str:
    """The bytes of the installed nginx, which name the functions it links; empty without one.

    `nginx -V` does not list libraries that were given by variables at its build.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    return Path(program).read_bytes().decode("latin-1") if program else ""


def tier_names() -> list[str]:
    """The names of all tiers."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def tier_of(name: str) -> Tier:
    """The tier of this name, or of the user's own file (`name` ends in .yaml).

    StackcostError with all names if there is none.
    """
    path = Path(name) if name.endswith(SUFFIX) else FOLDER / f"{name}{SUFFIX}"
    if not path.is_file():
        raise StackcostError(
            f"there is no tuning tier {name!r}",
            f"choose one of {', '.join(tier_names())}, or a file",
        )
    try:
        return Tier.model_validate(dict(read_yaml(path, "the tier")) | {"name": path.stem})
    except (ValidationError, ValueError, TypeError) as error:
        raise StackcostError(f"{path} is not a tuning tier: {error}") from error
