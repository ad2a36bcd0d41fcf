"""Loads over TLS: the clients of generators on this machine, against nginx and against a peer."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from engine.bench.tools.selfcheck.bed import selfcheck_experiment
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import failures_of
from stackcost.bed.lock import RunLock
from stackcost.contracts.latency import percentile_us
from stackcost.contracts.load import ConstantLoad, HeldFlows
from stackcost.contracts.trial import Trial
from stackcost.experiment.schema import Experiment
from stackcost.runs.loads.constant import offer_load, prepare_load
from stackcost.runs.loads.held import Holds
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession, open_profile_session
from stackcost.session.progress import Progress

pytestmark = pytest.mark.bed
RATE, FLOWS = 100.0, 50


def with_tls(tls: dict[str, Any], generators: int = 1) -> Experiment:
    data = selfcheck_experiment(tls=tls).model_dump(mode="json", exclude_unset=True)
    several = [{"share": 1}] * generators if generators > 1 else []
    return Experiment.model_validate(data | {"generators": several})


@contextmanager
def opened(server: str, experiment: Experiment, folder: Path) -> Iterator[ProfileSession]:
    with (
        RunLock(),
        open_profile_session(server_class(server), experiment, folder, Progress()) as session,
    ):
        yield session


def offered(session: ProfileSession) -> Trial:
    """A short load."""
    trial = Trial(session.serving.name, 1, 1, ConstantLoad(offered_cps=RATE))
    prepare_load(session)
    offer_load(session, trial, session.experiment.load)
    return trial


def load_on(session: ProfileSession) -> ConstantLoad:
    """The same; every connection of it got its whole response."""
    trial = offered(session)
    load = trial.load_of(ConstantLoad)
    assert load.counter("tcps_connects") == load.counter("tcps_closed") > RATE
    assert load.tls and load.tls.failed == load.failed == 0 and not load.cut_flows
    return load


def median_us(load: ConstantLoad, kind: str) -> float:
    assert load.latency
    return percentile_us(HdrHistogram.decode(load.latency[""][kind]), 50.0) or 0


@pytest.mark.long
def test_two_generators_speak_tls_with_nginx_on_the_port_of_the_load(tmp_path: Path) -> None:
    experiment = with_tls({"version": 1.3, "certificate": "p-256"}, generators=2)
    with opened("nginx/kernel", experiment, tmp_path) as session:
        load = load_on(session)
        assert load.tls and load.tls.asked.version == "1.3"
        assert load.tls.handshakes_full == load.counter("tcps_connects") == load.server_requests
        assert load.tls.received_bytes == load.completed * session.response_bytes
        assert (
            0
            < median_us(load, "connect")
            < median_us(load, "tls_handshake")
            <= median_us(load, "first_byte")
            <= median_us(load, "completion")
        )
        hold = Trial("nginx/kernel", 2, 1, HeldFlows(open_flows=FLOWS))
        Holds(experiment).offer(session, hold)
        held = hold.load_of(HeldFlows)
        assert held.held_flows == FLOWS and held.tls and held.tls.handshakes_full == FLOWS


@pytest.mark.parametrize("version", [pytest.param("1.2", marks=pytest.mark.long), "1.3"])
def test_the_peer_speaks_it_too_and_gives_tickets(tmp_path: Path, version: str) -> None:
    experiment = with_tls({"version": version, "resumption": True})
    with opened("astf-peer", experiment, tmp_path) as session:
        load = load_on(session)
        assert load.tls and load.tls.handshakes_resumed > load.tls.handshakes_full > 0
        assert load.tls.received_bytes == load.completed * session.response_bytes


@pytest.mark.long
def test_a_cipher_that_the_server_refuses_fails_every_connection_and_is_the_reason(
    tmp_path: Path,
) -> None:
    experiment = with_tls({"version": "1.3", "cipher": "TLS_AES_128_CCM_SHA256"})
    with opened("nginx/kernel", experiment, tmp_path) as session:
        trial = offered(session)
        load = trial.load
        assert load.failed == load.counter("tcps_connattempt") > RATE and load.completed == 0
        (reason,) = (each for each in failures_of(Readings(trial)) if "TLS" in each)
        assert f"{load.failed} connections failed in TLS: alert 'handshake failure' rec" in reason
