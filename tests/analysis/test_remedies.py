"""What helps against a disturbance follows its cause: slow cores are not ended like a program."""

from collections.abc import Callable

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial import remedies
from stackcost.analysis.trial.flags import disturbances
from stackcost.contracts.counts import Schedule
from stackcost.contracts.load import ConstantLoad, HttpClients
from stackcost.contracts.trial import Trial
from tests.analysis.http_trials import asked
from tests.analysis.trials import add_other_program, counter, gauge, load_trial, slow_slices


def slowed(trial: Trial) -> None:
    slow_slices(trial, [tenth % 10 != 0 for tenth in range(100)])
    trial.samples = [s for s in trial.samples if s.metric != "cpu.exact_time"] + counter(
        "cpu.exact_time", 9.0, {"cpu": "1", "kind": "task"}
    )


def stolen(trial: Trial) -> None:
    trial.samples += counter("cpu.time", 3.0, {"cpu": "1", "kind": "steal", "book": "made"})


def late(trial: Trial) -> None:
    assert isinstance(trial.load, ConstantLoad)
    trial.load.schedule = Schedule(intended=10_000, opened=10_000, late=3000, unsent=0)


def unsent(trial: Trial) -> None:
    assert isinstance(trial.load, ConstantLoad)
    trial.load.schedule = Schedule(intended=12_000, opened=10_000, late=0, unsent=2000)


def busy(trial: Trial) -> None:
    for metric, grows in (("engine.busy_time", 5.95), ("engine.time", 0.01)):
        labels = {"engine": "generator", "core": "2", "cpu": "2"}
        trial.samples += counter(metric, grows, labels)


def suspended(trial: Trial) -> None:
    trial.suspended_s = 5.0


def limit_moved(trial: Trial) -> None:
    trial.samples += gauge("conntrack.limit", [1000, 2000], {})


@pytest.mark.parametrize(
    ("disturb", "cause", "helps"),
    [
        (
            lambda trial: add_other_program(trial, 5.0),
            "other programs took 50.0% of the server's cores",
            remedies.PROGRAMS,
        ),
        (slowed, "slower than at full speed", remedies.HOST),
        (stolen, "stolen by the hypervisor", remedies.HOST),
        (suspended, "machine was suspended for 5.0 s", remedies.AWAKE),
        (late, "started later than scheduled", remedies.GENERATOR),
        (unsent, "of the schedule not started", remedies.GENERATOR),
        (busy, "generator 99% busy", remedies.GENERATOR),
        (limit_moved, "nf_conntrack_max was 1,000, then 2,000", remedies.LIMIT),
    ],
)
def test_each_disturbance_of_a_trial_has_the_remedy_of_its_cause(
    disturb: Callable[[Trial], None], cause: str, helps: str
) -> None:
    trial = load_trial()
    disturb(trial)
    (found,) = [each for each in disturbances(Readings(trial, (1,))) if cause in each]
    assert remedies.remedy(found) == helps


def test_so_has_each_of_http_clients() -> None:
    trial = asked("wrk", 50, "mix", 0, 1000)
    assert isinstance(trial.load, HttpClients)
    trial.load.stopped_s, trial.load.waited_s, trial.load.ended_early = 9.0, 9.0, True
    told = [remedies.remedy(each) for each in disturbances(Readings(trial, (1,)))]
    assert told[-3:] == [remedies.OTHERWISE, remedies.STOPPED, remedies.CLIENTS]
