"""Finds the system of an experiment file that a test names."""

from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.load_file import load_experiment
from stackcost.experiment.matrix import Variant, variants


def target_of(path: Path, system: str = "") -> Variant:
    """The system with this name, or the only system; otherwise StackcostError with all names."""
    found = variants(load_experiment(path))
    names = ", ".join(each.name for each in found)
    wanted = [each for each in found if system in ("", each.name)]
    if len(wanted) != 1:
        what = f"has no system {system!r}" if system else f"has {len(found)} systems"
        raise StackcostError(
            f"{path} {what}", f'name one of them: cps_ceiling(file, system="..."): {names}'
        )
    if wanted[0].lacking:
        raise StackcostError(
            f"{wanted[0].name} cannot be measured on this machine: {wanted[0].lacking}"
        )
    return wanted[0]
