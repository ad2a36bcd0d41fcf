"""Two generators that load one server of this machine over a switch."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from engine.bench.tools.selfcheck.bed import selfcheck_experiment
from stackcost.analysis.cost import generators
from stackcost.analysis.readings import Readings
from stackcost.bed.lock import RunLock
from stackcost.contracts import metrics
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad, HeldFlows, SearchStep
from stackcost.contracts.trial import CUT_SHORT, Trial
from stackcost.experiment.schema import Experiment
from stackcost.host.signals import ending_signals_raise
from stackcost.runs.campaign import storing
from stackcost.runs.loads.constant import offer_load, prepare_load
from stackcost.runs.loads.held import Holds
from stackcost.runs.loads.search import Steps
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession, open_profile_session
from stackcost.session.progress import Progress
from stackcost.store import RunFolder

NginxKernel = server_class("nginx/kernel")

pytestmark = pytest.mark.bed
SHARES = (3, 1)
RATE = 800.0


def two_generators() -> Experiment:
    data = selfcheck_experiment().model_dump(mode="json", exclude_unset=True)
    return Experiment.model_validate(data | {"generators": [{"share": each} for each in SHARES]})


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExitStack]:
    """What the session of this file stands on; closing it ends the session."""
    with ExitStack() as stack:
        stack.enter_context(RunLock())
        stack.enter_context(ending_signals_raise())
        yield stack


@pytest.fixture(scope="module")
def session(opened: ExitStack, tmp_path_factory: pytest.TempPathFactory) -> ProfileSession:
    folder = tmp_path_factory.mktemp("two-generators")
    return opened.enter_context(
        open_profile_session(NginxKernel, two_generators(), folder, Progress())
    )


def generator_processes() -> dict[str, psutil.Process]:
    """The engines by the name of their configuration."""
    found = {}
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if line and line[0].endswith("astf-engine"):
            found[Path(line[line.index("--cfg") + 1]).stem] = process
    return found


def test_the_sum_of_both_is_exact_to_the_connection(session: ProfileSession) -> None:
    trial = Trial("nginx/kernel", 1, 1, ConstantLoad(offered_cps=RATE), session.response_bytes)
    prepare_load(session)
    offer_load(session, trial, session.experiment.load)
    load = trial.load
    assert isinstance(load, ConstantLoad) and load.schedule and load.latency
    first, second = load.generators
    connects = [each.client["tcps_connects"] for each in load.generators]
    assert load.server_requests == sum(connects) == load.client["tcps_connects"]
    assert sum(connects) == load.schedule.opened > RATE
    assert first.schedule and second.schedule
    assert first.schedule.intended + second.schedule.intended == load.schedule.intended
    assert (first.clients, second.clients) == ("16.0.0.1-16.0.0.150", "16.0.0.151-16.0.0.200")
    seen = Readings(trial)
    assert generators.opened_share(trial, "generator-1") == pytest.approx(0.75, abs=0.01)
    assert set(generators.busy_shares(seen)) == {"generator-1", "generator-2"}
    started = {"engine": "generator", "side": "client", "counter": "tcps_connects"}
    assert seen.rate(metrics.TREX_COUNTER, **started) == pytest.approx(RATE, rel=0.25)


def test_open_flows_are_divided_and_all_of_them_are_held(session: ProfileSession) -> None:
    trial = Trial("nginx/kernel", 2, 1, HeldFlows(open_flows=401), session.response_bytes)
    Holds(session.experiment).offer(session, trial)
    load = trial.load
    assert isinstance(load, HeldFlows)
    assert load.held_flows == 401 and load.cut_flows == 0
    assert [each.client["tcps_connects"] for each in load.generators] == [300, 101]


def test_a_step_of_a_search_counts_what_both_lost(session: ProfileSession) -> None:
    step = Steps("connections").step(RATE, 0.5)
    trial = Trial("nginx/kernel", 3, 1, step, session.response_bytes)
    Steps("connections").prepare(session)
    Steps("connections").offer(session, trial)
    assert isinstance(trial.load, SearchStep) and trial.load.loss
    parts = [each.schedule for each in trial.load.offered.generators]
    assert trial.load.loss.intended == sum(each.intended for each in parts if each)


def test_one_that_is_killed_ends_the_trial_with_its_name_and_the_other_is_stopped(
    session: ProfileSession,
    opened: ExitStack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last test of this file: it ends the session."""
    load = session.experiment.load.model_copy(update={"warm_up_s": 0.2, "sustain_s": 1.5})
    trial = Trial("nginx/kernel", 4, 1, ConstantLoad(offered_cps=RATE), session.response_bytes)
    run = RunFolder(tmp_path)
    (tmp_path / "samples").mkdir()
    prepare_load(session)
    killed = generator_processes()["generator-2"]
    pause = time.sleep

    def kill_amid(seconds: float) -> None:
        if seconds > load.sustain_s / 2:  # the rest of the window after its first reading
            os.kill(killed.pid, signal.SIGKILL)
        pause(seconds)

    monkeypatch.setattr(time, "sleep", kill_amid)
    with (
        pytest.raises(StackcostError, match=r"generator-2 ended with exit status -?\d+"),
        storing(run, session, trial),
    ):
        offer_load(session, trial, load)
    assert trial.set_aside == CUT_SHORT and trial.samples
    assert set(generator_processes()) == {"generator-1"}
    opened.close()
    assert not generator_processes()
