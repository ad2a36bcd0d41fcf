"""Trials of the live page's cost that had no figure, as another program may leave them."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from engine.bench.tools.selfcheck import live_cost
from engine.bench.tools.selfcheck.bed import selfcheck_experiment
from engine.bench.tools.selfcheck.row import Row
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from tests.analysis.trials import encoded, load_trial


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(live_cost, "offer_load", lambda *_: None)
    monkeypatch.setattr(live_cost, "prepare_load", lambda *_: None)
    monkeypatch.setattr(live_cost, "_read_by_page", lambda _: nullcontext())
    server = SimpleNamespace(server=SimpleNamespace(name="known"))
    return SimpleNamespace(
        experiment=selfcheck_experiment(), local_server=server, response_bytes=1000
    )


def with_figures() -> Trial:
    trial = load_trial()
    trial.load_of(ConstantLoad).latency = {"": {"completion": encoded({70: 1})}}
    return trial


def without_cost() -> Trial:
    trial = with_figures()
    trial.samples = [each for each in trial.samples if each.metric != "cpu.exact_time"]
    return trial


def rows_of(session: Any, trials: list[Trial]) -> tuple[Row, list[Row]]:
    steps = live_cost.live_steps(session, len(trials) // 2)
    step = next(steps)
    for trial in trials:
        step.make(step.trial)
        try:
            step = steps.send([trial])
        except StopIteration as end:
            found: tuple[Row, list[Row]] = end.value
            return found
    raise AssertionError("it wants more trials")


def test_a_round_without_figures_is_left_out(session: Any) -> None:
    page, (cost, median) = rows_of(
        session, [load_trial(), with_figures(), with_figures(), with_figures()]
    )  # the first had no completion times
    assert len(page.seen) == 1
    assert cost.known == [pytest.approx(100)] and median.known == [70]


def test_without_figures_in_any_round_the_reason_is_told(session: Any) -> None:
    words = r"no round of 2 has its figures: without the live page: .* not read"
    with pytest.raises(StackcostError, match=words):
        rows_of(session, [with_figures(), without_cost(), with_figures(), without_cost()])
