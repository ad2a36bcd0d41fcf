"""Searches on the real test bed, of servers whose ceilings were set on purpose."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from stackcost.analysis.ceiling.bottleneck import find_bottleneck
from stackcost.analysis.ceiling.settings import Goal, SearchSettings, settings_for
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.analysis.ceiling.summarise import summarise_ceilings
from stackcost.analysis.ceiling.summary import Ceiling
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.bed.lock import RunLock
from stackcost.contracts.load import CeilingKind
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.host.namespace import execute
from stackcost.host.signals import ending_signals_raise
from stackcost.runs.loads.constant import OVERHANG_S
from stackcost.runs.loads.search import (
    REQUESTS_PER_CONNECTION,
    WARM_UP_S,
    Steps,
)
from stackcost.runs.search import DETAIL, search_steps
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession, open_profile_session
from stackcost.session.progress import Progress
from tests.runs.on_session import follow
from tests.search.simulated import plan_of

NginxKernel = server_class("nginx/kernel")

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"
ALLOWED_CPS = 1_000
OUTLASTS_S = 1.5  # the load goes on for half a second after the last edge, and a hold for one
BURST = 100  # of the token bucket; it lets a generator that was stopped for a moment catch up
LIMIT = f"""
table ip sc_limit {{
    chain input {{
        type filter hook input priority 0;
        tcp dport 80 tcp flags & (syn | ack) == syn \
            limit rate over {ALLOWED_CPS}/second burst {BURST} packets drop
    }}
}}
"""


def small() -> Experiment:
    """Responses so short that no core of this machine is near its limit."""
    experiment = read_experiment(COMPARE, quick=True)
    workload = experiment.workload.model_copy(update={"response_bytes": 400})
    server = experiment.server.model_copy(update={"tuning": "stock"})
    return experiment.model_copy(update={"workload": workload, "server": server})


@contextmanager
def session_of(experiment: Experiment, folder: Path) -> Iterator[ProfileSession]:
    with (
        RunLock(),
        ending_signals_raise(),
        open_profile_session(
            NginxKernel, experiment, folder / "logs", Progress(), DETAIL
        ) as session,
    ):
        yield session


def find(
    session: ProfileSession, folder: Path, of: CeilingKind, settings: SearchSettings
) -> Ceiling:
    """A search as the command makes it, and what its summary says."""
    key = SearchKey("nginx/kernel", of, 1)
    _, trials = follow(session, partial(search_steps, key=key, settings=settings), folder)
    plan = plan_of(settings, of)
    (found,) = summarise_ceilings(trials, "test", plan, "complete", {}).ceilings
    return found


@pytest.mark.long
@pytest.mark.bed
def test_new_connections_limited_on_the_way_are_found_at_their_limit(tmp_path: Path) -> None:
    settings = settings_for("connections", quick=True, most=2_000).model_copy(
        update={
            "goals": (Goal(name="NDR", loss_ratio=0.0),),
            "relative_width": 0.01,
            "initial_trial_duration": 1.0,
            "final_trial_duration": 1.0,
            "duration_sum": 1.0,
            "first_load": 800.0,
        }
    )
    with session_of(small(), tmp_path) as session:
        execute(session.bed.server_namespace, ["nft", "-f", "-"], stdin=LIMIT)
        found = find(session, tmp_path, "connections", settings)
    (rate,) = found.rates
    per_trial = ALLOWED_CPS + BURST / (WARM_UP_S + 1.0 + OVERHANG_S)
    assert rate.value == pytest.approx(per_trial, rel=0.02), found.sentence
    assert found.bottleneck is not None and found.bottleneck.cause == "on the way", found.sentence


def one_trial(session: ProfileSession, of: CeilingKind, load: float) -> Trial:
    trial = Trial("nginx/kernel", 1, 1, Steps(of).step(load, 1.0), session.response_bytes)
    Steps(of).offer(session, trial)
    return trial


@pytest.mark.long
@pytest.mark.bed
def test_a_look_that_outlasts_the_load_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = "what is read under load was read until"
    with session_of(small(), tmp_path) as session:
        monkeypatch.setattr(
            session.local_server.stack, "check_stack", lambda *_: time.sleep(OUTLASTS_S)
        )
        for of, load in (("connections", 200.0), ("flows", 50.0)):
            Steps(of).prepare(session)
            flags = flags_of(Readings(one_trial(session, of, load), (1,)))
            assert late in " ".join(flags), flags


@pytest.mark.long
@pytest.mark.bed
def test_each_ceilings_trials_count_what_was_served_and_find_what_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session_of(small(), tmp_path) as session:
        server = session.local_server.server

        Steps("requests").prepare(session)
        requests = one_trial(session, "requests", 2_000)
        loss = requests.load.loss
        connections = requests.traffic.client["tcps_connattempt"]
        assert loss.intended == REQUESTS_PER_CONNECTION * connections > 2_000
        assert requests.traffic.server_requests == loss.intended - loss.lost
        assert session.serving.open_connections() == 0, "a trial leaves the server as it found it"

        Steps("flows").prepare(session)
        looks: list[str] = []
        monkeypatch.setattr(
            session.local_server.stack, "check_stack", lambda when, _: looks.append(when)
        )
        held = one_trial(session, "flows", 600)
        assert looks == ["during"], "else no stack but the kernel's is checked to carry it"
        assert (held.load.loss.intended, held.load.loss.lost) == (600, 0)

        worker = psutil.Process(server.processes()["worker-0"])
        worker.rlimit(psutil.RLIMIT_NOFILE, (300, 300))
        few = one_trial(session, "flows", 600)
        # Those that wait in the accept queue are open, and are served when others have closed.
        assert 0 < few.load.loss.lost < 400
        found = find_bottleneck(Readings(few, (1,)))
        assert found.cause == "open files", found.sentence
        assert "the limit is 300" in found.sentence

        enter = ["sh", "-c", "echo 1 > /proc/sys/net/core/somaxconn"]
        execute(session.bed.server_namespace, enter)
        server.start()  # listens anew
        Steps("connections").prepare(session)
        crowded = one_trial(session, "connections", 3_000)
        assert crowded.load.loss.lost > 0
        found = find_bottleneck(Readings(crowded, (1,)))
        words = [sign.words for sign in found.evidence if sign.cause == "accept queue"]
        assert words and words[0].endswith("times (its length is 1)"), found.sentence
