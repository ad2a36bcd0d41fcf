"""A kind of load from one file that the suite does not know: planned, offered, stored, judged."""

import shutil
from pathlib import Path

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts import metrics
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad, OwnLoad
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.runs.comparison import identity, plan
from stackcost.runs.identity import profile_hashes
from stackcost.runs.loads.constant import Constant
from stackcost.store.trial_lines import decode, encode
from tests.experiment.command import run_folder, short_compare, start

BURSTS = """
rounds: 1
load:
  offered_cps: [400]
  offered_by: bursts.py
  settings: {burst_s: 0.2}
  warm_up_s: 1
  sustain_s: 3
memory: {open_flows: [0, 200], open_cps: 1000, settle_s: 0.2, read_s: 0.3}
"""


@pytest.fixture
def bursts(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).with_name("bursts.py"), tmp_path)
    return short_compare(tmp_path, BURSTS)


def test_its_loads_are_in_the_plan_with_settings_and_an_identity_of_their_own(bursts: Path) -> None:
    experiment = read_experiment(bursts, quick=True)
    turns = plan(experiment)
    (trial,) = [trial for trial in turns[0].trials if not trial.traffic.holds]
    assert trial.load == OwnLoad(name="bursts", offered_cps=400, settings={"burst_s": 0.2})
    assert trial.load.identity == ("own", "bursts", 400, (("burst_s", 0.2),))
    constant = Trial(trial.server, 0, 1, ConstantLoad(offered_cps=400))
    assert identity(trial) != identity(constant)
    stored = [trial for turn in turns for trial in turn.trials]
    assert plan(experiment, stored) == [], "a resumed run has it"
    assert str(bursts.with_name("bursts.py")) in profile_hashes(experiment)


def test_how_long_it_takes_is_asked_of_it(bursts: Path) -> None:
    experiment = read_experiment(bursts, quick=True)
    (*_, turn) = plan(experiment)
    seconds = [planned.seconds for planned in turn.loads]
    assert sum(turn.seconds.values()) == pytest.approx(turn.setup_s + sum(seconds))
    assert seconds[-1] == Constant(experiment).seconds(ConstantLoad(offered_cps=400))


def test_it_is_read_back_where_its_file_is_not(bursts: Path) -> None:
    turn, *_ = plan(read_experiment(bursts, quick=True))
    bursts.with_name("bursts.py").unlink()
    assert decode(encode(turn.trials[-1])) == turn.trials[-1]


def test_a_file_without_a_kind_is_told(bursts: Path) -> None:
    bursts.with_name("bursts.py").write_text("")
    with pytest.raises(StackcostError, match="must contain exactly one ownkind class"):
        plan(read_experiment(bursts, quick=True))


def test_settings_need_a_kind_of_ones_own(bursts: Path) -> None:
    bursts.write_text(bursts.read_text().replace("offered_by: bursts.py", ""))
    with pytest.raises(StackcostError, match="settings are of a kind of load of your own"):
        read_experiment(bursts)


@pytest.mark.long
@pytest.mark.bed
def test_a_run_offers_it_and_judges_it_by_its_own_rules(bursts: Path, tmp_path: Path) -> None:
    process = start(
        ["run", str(bursts), "--quick", "--results", str(tmp_path / "results")], report=True
    )
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    offered = [trial for trial in run_folder(tmp_path / "results").trials() if trial.offered_cps]
    assert {trial.server for trial in offered} == {"nginx/kernel", "astf-peer"}
    for trial in offered:
        load, seen = trial.traffic, Readings(trial, (1,))
        assert load.kind == "own" and load.failed == load.cut_flows == 0
        assert load.completed == load.counter("tcps_connattempt") > 400
        opened = {"engine": "generator", "side": "client", "counter": "tcps_connattempt"}
        assert seen.rate(metrics.TREX_COUNTER, **opened) == pytest.approx(400, rel=0.25)
        told = " ".join(flags_of(seen))
        assert "varied" not in told and "connections/s" not in told, "it is not to be steady"
