import io
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.contracts.errors import StackcostError
from stackcost.counting.session import open_counting_session
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Cores, Experiment
from stackcost.runs.comparison import at_loads, plan, run_experiment
from stackcost.runs.identity import experiment_hash
from stackcost.runs.turn import OpenSession
from stackcost.session.http_session import open_http_session
from stackcost.session.profile_session import SETUP_S, open_profile_session
from stackcost.session.server_session import ServerSession
from stackcost.store import Manifest
from stackcost.store.manifest import LoadsFound

RATES = [1000.0, 2000.0, 4000.0]
COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"


def test_trials_are_of_their_turns_round_and_have_no_number_before_they_run() -> None:
    turns = plan(read_experiment(COMPARE).offering(RATES))
    assert all(trial.round == turn.round for turn in turns for trial in turn.trials)
    assert {trial.number for turn in turns for trial in turn.trials} == {0}


def test_quick_plans_about_two_minutes_and_the_default_about_ten() -> None:
    quick = read_experiment(COMPARE, quick=True).offering(RATES)
    full = read_experiment(COMPARE).offering(RATES)
    assert 90 < sum(sum(turn.seconds.values()) for turn in plan(quick)) < 170
    assert 360 < sum(sum(turn.seconds.values()) for turn in plan(full)) < 720


def test_loads_that_are_shares_become_rates_when_the_ceiling_is_found_and_stay_so() -> None:
    experiment = read_experiment(COMPARE, quick=True)
    manifest = Manifest(run="1", experiment=experiment.model_dump(mode="json"))
    unknown = at_loads(experiment, manifest)
    offered = [trial for trial in plan(unknown)[0].trials if not trial.traffic.holds]
    assert len(offered) == 3, "as many trials, so that their time is known"
    rates = experiment.load.rates_of(4_321.0)
    assert rates == [1100, 2200, 3200], "round numbers, for those who read them"
    manifest.loads_found = LoadsFound(ceilings={"nginx/kernel": 4_321.0}, offered_cps=rates)
    again = Manifest.model_validate_json(manifest.model_dump_json())
    turns = plan(at_loads(experiment, again))
    assert [each.offered_cps for each in turns[0].trials if not each.traffic.holds] == rates
    assert turns[0].variant.experiment.load.offered_cps == rates
    assert check_is_the_same(experiment, again), "what was found is no part of the plan's hash"


@pytest.mark.parametrize(
    ("name", "session", "setup_s"),
    [
        ("compare", open_profile_session, SETUP_S),
        ("http_versions", open_http_session, 1.0),
        ("haproxy_counted", open_counting_session, SETUP_S),
    ],
)
def test_a_kind_of_load_names_its_session_and_all_of_a_turn_the_same(
    name: str, session: OpenSession[ServerSession], setup_s: float
) -> None:
    experiment = read_experiment(COMPARE.with_name(f"{name}.yaml"), quick=True)
    for turn in plan(experiment.offering(RATES) if name == "compare" else experiment):
        assert {each.kind.open for each in turn.loads} == {session}, turn.variant.name
        assert turn.setup_s == setup_s


def check_is_the_same(experiment: Experiment, manifest: Manifest) -> bool:
    return experiment_hash(Experiment.model_validate(manifest.experiment)) == experiment_hash(
        experiment
    )


def test_a_core_that_does_not_exist_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    experiment = read_experiment(COMPARE, quick=True)
    experiment = experiment.model_copy(update={"cores": Cores(load=[0], server=[4000])})
    with pytest.raises(StackcostError, match=r"cores \[4000\] do not exist"):
        run_experiment(experiment, "test", tmp_path, [], Console(file=io.StringIO()))
    assert list(tmp_path.iterdir()) == []
