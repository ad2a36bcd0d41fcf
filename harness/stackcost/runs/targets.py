"""Makes the plan of searches from a command line: systems or experiment files, and ceilings."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from stackcost.analysis.ceiling.settings import SearchSettings, settings_for
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import CeilingKind
from stackcost.duts.base import Dut
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.read_file import experiment_file, experiment_names, read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.runs.search import CeilingPlan
from stackcost.servers.registry import SHIPPED, SUFFIX, nearest, server_class


def ceiling_plan(
    systems: Sequence[str],
    ceilings: Sequence[str],
    quick: bool = False,
    width: float | None = None,
    most: float | None = None,
    rounds: int = 1,
) -> CeilingPlan:
    """The plan of the wanted searches; StackcostError for an unknown name."""
    targets = [target for system in dict.fromkeys(systems) for target in _targets(system)]
    found = [target.name for target in targets]
    twice = {name for name in found if found.count(name) > 1}
    if twice:
        raise StackcostError(
            f"{', '.join(sorted(twice))} occurs more than once in {', '.join(systems)}",
            "search them in separate runs",
        )
    settings: dict[CeilingKind, SearchSettings] = {
        of: settings_for(of, quick, width, most) for of in map(_ceiling, ceilings)
    }
    return CeilingPlan(tuple(targets), settings, rounds)


def _targets(system: str) -> list[Variant]:
    if system in SHIPPED or system.endswith(SUFFIX):
        usual = "dut.yaml" if issubclass(server_class(system), Dut) else "compare.yaml"
        chosen = {"servers": [system]}
        return variants(read_experiment(EXPERIMENTS / usual).model_copy(update=chosen))
    try:
        file = experiment_file(Path(system))
    except StackcostError:
        known = nearest(system, [*SHIPPED, *experiment_names()])
        raise StackcostError(
            f"there is no server and no experiment file {system}{known}",
            f"all servers: docs/experiment-file.md, `servers`; all experiments: {EXPERIMENTS}",
        ) from None
    return variants(read_experiment(file))


def _ceiling(word: str) -> CeilingKind:
    known: tuple[CeilingKind, ...] = get_args(CeilingKind)
    for of in known:
        if word == of:
            return of
    raise StackcostError(
        f"there is no ceiling of {word!r}", f"choose one: --of {' or '.join(known)}"
    )
