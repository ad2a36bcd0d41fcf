"""Known answers: devices whose limits, losses and costs were set on purpose, on the real bed."""

import dataclasses
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from scipy.stats import linregress

from duts.base import Dut
from duts.connection_limit import ConnectionLimit
from duts.forwarding import Forwarding
from duts.nftables import Nftables
from harness.analysis import device, flows
from harness.analysis.readings import Readings
from harness.experiment.load_file import load_experiment
from harness.experiment.load_trial import OVERHANG_S, offer_load
from harness.experiment.progress import Progress
from harness.experiment.session import Session, open_session
from harness.experiment.task import task_of
from harness.model import Trial
from harness.search.controller import search
from harness.search.gave_way import what_gave_way
from harness.search.measurer import Measurer
from harness.search.settings import Goal, Of, Settings
from harness.search.stored import Key
from harness.search.trials import WARM_UP_S, prepare, reset_server, run_trial
from harness.store import RunFolder
from harness.testbed.lock import RunLock
from harness.testbed.signals import ending_signals_raise

pytestmark = pytest.mark.bed

EXPERIMENT = load_experiment(Path(__file__).resolve().parents[2] / "experiments" / "dut.yaml", True)
DEVICE_CPUS = EXPERIMENT.cores.server
DROP_ONE_IN_100 = """
table ip lossy {
    chain prerouting {
        type filter hook prerouting priority raw; policy accept;
        numgen random mod 100 == 0 drop
    }
}
"""


class Lossy(Forwarding):
    """Drops one frame of a hundred, whichever way it goes."""

    def ruleset(self) -> str:
        return DROP_ONE_IN_100


@contextmanager
def session_of(kind: type[Dut], folder: Path) -> Iterator[Session]:
    memory = EXPERIMENT.memory.model_copy(update={"open_cps": 8_000})
    experiment = EXPERIMENT.model_copy(update={"memory": memory})
    with (
        RunLock(),
        ending_signals_raise(),
        Progress(60, Console(file=io.StringIO())) as progress,
        open_session(kind, experiment, folder, "test", progress) as session,
    ):
        yield session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A bed with a device, which each test makes into one of its own."""
    with session_of(Forwarding, tmp_path_factory.mktemp("logs")) as session:
        yield session


Become = Callable[..., Dut]


@pytest.fixture
def become(session: Session) -> Become:
    """Let the device of the bed be of a kind, with settings; an empty table of connections."""

    def change(kind: type[Dut], **settings: Any) -> Dut:
        dut = EXPERIMENT.dut.model_copy(update=settings)
        task = dataclasses.replace(task_of(EXPERIMENT, kind), dut=dut)
        made = kind(session.bed.endpoint(session.folder), task)
        made.start()
        made.reset()
        session.server = made
        return made

    return change


def ceiling_trial(session: Session, of: Of, load: float) -> Trial:
    trial = Trial(session.server.name, 1, 0.0)
    trial.load |= {"round": 1, "response_bytes": session.response_bytes, "ceiling": {"of": of}}
    run_trial(session, trial, of, load, 0.5)
    return trial


def load_trial(session: Session, rate: float, seconds: float) -> Readings:
    trial = Trial(session.server.name, 1, rate)
    trial.load |= {"round": 1, "response_bytes": session.response_bytes}
    part = session.experiment.load.model_copy(
        update={"warm_up_s": WARM_UP_S, "sustain_s": seconds, "drain_s": 8.0}
    )
    prepare(session, "connections")
    offer_load(session, trial, part)
    reset_server(session)
    return Readings(trial)


def test_a_table_of_10_000_connections_is_found_to_hold_as_many(
    session: Session, become: Become
) -> None:
    become(Nftables, tracked_limit=10_000)
    prepare(session, "flows")
    try:
        trial = ceiling_trial(session, "flows", 12_000)
    finally:
        become(Nftables, tracked_limit=262_144)
    assert trial.load["held_flows"] == pytest.approx(10_000, rel=0.01)
    found = what_gave_way(Readings(trial), DEVICE_CPUS)
    assert found.cause == "connection tracking", found.sentence
    assert device.tracking_events(Readings(trial))["drop"] > 0


def test_a_limit_of_3_000_new_connections_a_second_is_the_ceiling(
    session: Session, become: Become, tmp_path: Path
) -> None:
    allowed, burst = 3_000, 30
    become(ConnectionLimit, new_per_second=allowed)
    settings = Settings(
        goals=(Goal(name="PDR", loss_ratio=0.005),),
        relative_width=0.01,
        initial_trial_duration=1.0,
        final_trial_duration=1.0,
        duration_sum=1.0,
        first_load=2_400.0,
        most_load=4_000.0,
    )
    measurer = Measurer(RunFolder.create(tmp_path, "test"), session.progress)
    key = Key(session.server.name, "connections", 1)
    prepare(session, "connections")
    outcome = search(settings, partial(measurer.measure, session, key, settings))
    per_trial = allowed + burst / (WARM_UP_S + 1.0 + OVERHANG_S)
    assert outcome.bounds[settings.goals[0]].throughput == pytest.approx(per_trial, rel=0.02)
    lossy = [trial for trial in measurer.trials if trial.load["ceiling"]["lost"] > 100]
    assert what_gave_way(Readings(lossy[0]), DEVICE_CPUS).cause == "in the device"


def test_frames_that_a_device_drops_are_located_in_it(session: Session, become: Become) -> None:
    become(Lossy)
    seen = load_trial(session, 1_000, 1.0)
    lost = device.lost_frames(seen.trial)
    assert lost is not None and lost.before == lost.after == 0
    entered = sum(points["entered"] for points in seen.trial.load["frames"].values())
    spread = 5 * (0.01 * 0.99 / entered) ** 0.5  # of a share of random drops, five sigma
    assert lost.inside / entered == pytest.approx(0.01, abs=spread)
    assert flows.retransmitted(seen.trial) > 0


def test_linear_rules_cost_each_frame_softirq_time_in_proportion(
    session: Session, become: Become
) -> None:
    counts = (0, 1_000, 2_000, 3_000)
    costs = []
    for count in counts:
        become(Nftables, rules=count, established_first=False)
        seen = load_trial(session, 500, 1.0)
        costs.append(device.softirq_per_frame(seen, DEVICE_CPUS))
    line = linregress(counts, costs)
    assert line.rvalue**2 > 0.95, costs
    assert line.slope * 1_000 > 1.0, costs  # microseconds


def test_forwarding_does_what_the_wire_does(session: Session, become: Become) -> None:
    become(Forwarding)
    through = load_trial(session, 2_000, 1.0)
    lost = device.lost_frames(through.trial)
    assert lost is not None and (lost.before, lost.inside, lost.after) == (0, 0, 0)
    assert flows.failed(through.trial) == 0
    assert flows.completed_rate(through) == pytest.approx(2_000, rel=0.05)
