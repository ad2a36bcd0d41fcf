"""Makes the plan of searches from a command line: systems or experiment files, and ceilings."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from stackcost.analysis.ceiling.settings import SearchSettings, settings_for
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import CeilingKind
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.read_file import experiment_file, read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.search.feeder import CeilingPlan
from stackcost.systems.registry import DEVICES, SHIPPED


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
    if system in SHIPPED:
        usual = "dut.yaml" if system in DEVICES else "compare.yaml"
        chosen = {"servers": [system]}
        return variants(read_experiment(EXPERIMENTS / usual).model_copy(update=chosen))
    try:
        file = experiment_file(Path(system))
    except StackcostError as error:
        raise StackcostError(
            f"{error.what}, and no built-in server of this name: {', '.join(SHIPPED)}", error.hint
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
