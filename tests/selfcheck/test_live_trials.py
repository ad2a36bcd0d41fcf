"""Trials of the live page's cost that had no figure, as another program may leave them."""

from types import SimpleNamespace
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.latency import HIGHEST_US, SIGNIFICANT_FIGURES
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.selfcheck import live_cost
from stackcost.selfcheck.bed import selfcheck_experiment
from tests.analysis.trials import load_trial


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(live_cost, "offer_load", lambda *_: None)
    server = SimpleNamespace(server=SimpleNamespace(name="known"))
    return SimpleNamespace(
        experiment=selfcheck_experiment(), local_server=server, response_bytes=1000
    )


def with_figures() -> Trial:
    trial = load_trial()
    histogram = HdrHistogram(1, HIGHEST_US, SIGNIFICANT_FIGURES)
    histogram.record_value(70)
    load = trial.load_of(ConstantLoad)
    load.latency = {"": {"completion": histogram.encode().decode()}}
    return trial


def test_a_trial_without_a_figure_is_made_again(session: Any) -> None:
    steps = live_cost.made(session, None)
    for step in (next(steps), steps.send([load_trial()])):
        step.make(step.trial)  # the first had no completion times
    with pytest.raises(StopIteration) as ended:
        steps.send([with_figures()])
    seen = ended.value.value
    assert seen.cost == pytest.approx(100) and seen.median == 70


def test_one_that_never_has_them_is_an_error_with_the_reason(session: Any) -> None:
    steps = live_cost.made(session, None)
    step = next(steps)
    with pytest.raises(StackcostError, match=r"without the live page, no trial of 4 .* not read"):
        for _attempt in range(live_cost.ATTEMPTS):
            trial = with_figures()
            trial.samples = [each for each in trial.samples if each.metric != "cpu.exact_time"]
            step.make(step.trial)
            step = steps.send([trial])
