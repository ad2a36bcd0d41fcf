"""The beds that a set is measured on: experiment files, of which the test bed is used."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.session.both_sides import problems_of_hosts
from stackcost.session.generators import generators_of

CHECKS, PAUSE_S = 3, 5.0  # an agent whose controller has ended needs some seconds to undo all


def read_beds(files: Sequence[Path]) -> dict[str, Experiment]:
    """The beds by the names of their files. StackcostError if they are not of one kind."""
    beds = {file.stem: read_experiment(file) for file in files}
    if len(beds) < len(files):
        raise StackcostError("two beds have the same name: a bed has the name of its file")
    here = [name for name, bed in beds.items() if bed.uses_this_machine]
    if len(here) > 1:
        raise StackcostError(
            f"the beds {' and '.join(here)} both use this machine, which has one run at a time"
        )
    check_one_kind({name: kind_of(bed) for name, bed in beds.items()})
    return beds


def check_one_kind(kinds: Mapping[str, str]) -> str:
    """The kind that all beds have; StackcostError if they are not of one. `kinds`: by bed."""
    first, *others = sorted(set(kinds.values()))
    if others:
        each = "; ".join(f"{name} has {kind}" for name, kind in kinds.items())
        raise StackcostError(
            f"the beds are not of one kind: {each}",
            "figures of different beds cannot be compared: make a set for each kind",
        )
    return first


def kind_of(bed: Experiment) -> str:
    """What beds of one kind have in common, as far as their files say it."""
    cores = [len(each.cpus) for each in generators_of(bed)]
    where = "veth pairs" if bed.bed is None else "interfaces"
    return f"{where}, generators of {cores} cores, {len(bed.cores.server)} server cores"


def lasting_problems(bed: Experiment, checks: int = CHECKS) -> str:
    """Why no run can begin on a bed, in words; empty if one can."""
    found = ""
    for check in range(checks):
        if check:
            time.sleep(PAUSE_S)
        found = _problems(problems_of_hosts(bed) if bed.bed else {})
        if not found:
            break
    return found


def _problems(of_hosts: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{host}: {each}" for host, found in of_hosts.items() for each in found)
