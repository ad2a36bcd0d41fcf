"""Flows that do not all open: their hold is lost, they are opened slower, and the run goes on.

No test bed; on one: tests/duts/test_diagnosis_on_bed.py.
"""

from typing import Any

import pytest

from stackcost.contracts.load import HeldFlows
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.runs.loads.held import TRIES, Holds, established
from tests.analysis.trials import counter

QUEUE = {"counter": "TcpExtListenOverflows"}


class Session:
    """What the words of a planned trial ask for: nothing."""


def opened_at(kind: Holds, load: HeldFlows, fails: int) -> list[float]:
    """The rates at which a hold's flows are opened, if the first `fails` do not open."""
    session: Any = Session()
    steps = kind.steps(session, Trial("nginx/kernel", 0, 1, load), load)
    rates = []
    try:
        planned = next(steps)
        while True:
            trial = planned.trial.as_planned(len(rates) + 1)
            asked = trial.load_of(HeldFlows)
            assert asked.open_cps is not None
            rates.append(asked.open_cps)
            if len(rates) <= fails:
                asked.not_opened = trial.set_aside = "only 0 of 8,000 flows opened"

                trial.samples = counter("tcp.counter", 14_572, QUEUE)
            planned = steps.send([trial])
    except StopIteration:
        return rates


@pytest.fixture
def holds() -> Holds:
    return Holds(read_experiment(EXPERIMENTS / "compare.yaml"))


def test_flows_are_opened_again_at_half_the_rate_while_a_queue_overflows(holds: Holds) -> None:
    asked = read_experiment(EXPERIMENTS / "compare.yaml").memory.open_cps
    load = HeldFlows(open_flows=8000)
    assert opened_at(holds, load, 0) == [asked]
    assert opened_at(holds, load, 2) == [asked, asked / 2, asked / 4]
    assert opened_at(holds, load, 0) == [asked / 4], "so are the turn's further flows"
    again = opened_at(holds, load, 99)
    assert len(again) == TRIES, "then this hold is lost, and the run goes on"


def test_flows_are_opened_at_half_of_the_ceiling_that_was_found_at_most() -> None:
    experiment = read_experiment(EXPERIMENTS / "compare.yaml")
    slow, fast = (experiment.offering([500], ceiling) for ceiling in (1727, 1e6))
    assert slow.memory.open_cps == pytest.approx(863.5)
    assert fast.memory.open_cps == experiment.memory.open_cps


REFUSED = {"tcps_connattempt": 100, "tcps_connects": 50, "tcps_closed": 50, "tcps_conndrops": 50}


@pytest.mark.parametrize(
    ("counters", "held"),
    [
        (REFUSED | {"m_est_flows": 0}, 50),  # a refused flow hides no open one
        (REFUSED | {"tcps_closed": 80}, 20),
        ({}, 0),
    ],
)
def test_flows_are_held_that_are_established_and_not_closed(
    counters: dict[str, int], held: int
) -> None:
    assert established(counters) == held
