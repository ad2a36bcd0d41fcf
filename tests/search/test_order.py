"""The order in which a run's searches are made."""

from pathlib import Path

from stackcost.analysis.ceiling.settings import settings_for
from stackcost.harness.comparison.plan import plan
from stackcost.harness.experiment.load_file import load_experiment
from stackcost.harness.experiment.matrix import variants
from stackcost.harness.search.turns import CeilingPlan

PLAN = Path(__file__).resolve().parents[2] / "experiments" / "difference.yaml"


def test_searches_take_turns_as_the_turns_of_an_experiment_do() -> None:
    """A B B A: in A B A B a steady drift would always be at the expense of B."""
    experiment = load_experiment(PLAN)
    a, b = variants(experiment)
    ceilings = CeilingPlan(
        (a, b), {of: settings_for(of) for of in ("connections", "requests")}, experiment.rounds
    )
    searches = [(target.name, key.of, key.round) for target, key in ceilings.searches()]
    assert searches[:4] == [
        (target.name, of, 1) for of in ("connections", "requests") for target in (a, b)
    ]
    turns = [(turn.variant.name, turn.round) for turn in plan(experiment)]
    for of in ("connections", "requests"):
        assert [(name, number) for name, each, number in searches if each == of] == turns
    assert [name for name, _ in turns] == [a.name, b.name, b.name, a.name] * (
        experiment.rounds // 2
    )


def test_what_cannot_be_measured_here_is_not_searched() -> None:
    a, b = variants(load_experiment(PLAN))
    lacking = type(b)(b.name, b.server, b.experiment, "no such device")
    ceilings = CeilingPlan((a, lacking), {"flows": settings_for("flows")}, 2)
    assert [target for target, _ in ceilings.searches()] == [a, a]
