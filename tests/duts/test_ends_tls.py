"""Devices that end TLS, and devices that pass it on, before the generator's servers and nginx."""

from pathlib import Path

import pytest

from stackcost.analysis.readings import Readings
from stackcost.contracts import metrics
from stackcost.contracts.dut_settings import DutSettings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.tls import TlsSettings
from stackcost.duts.proxy import Proxy
from stackcost.experiment.schema import Experiment
from stackcost.servers import envoy_program
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import server_settings
from tests.duts.bed import EXPERIMENT, load_trial, session_of

RATE = 60.0
ENDING = ["dut/tls_nginx", "dut/tls_haproxy"] + (
    ["dut/tls_envoy"] if envoy_program.is_installed() else []
)
PASSING = ["dut/nat44", "dut/proxy_nginx", "dut/proxy_haproxy"]


def over_tls(tls: TlsSettings | None = None, **dut: object) -> Experiment:
    load = EXPERIMENT.load.model_copy(
        update={"tls": tls or TlsSettings(certificate="p-256"), "offered_cps": [RATE]}
    )
    update = {"load": load, "dut": DutSettings.model_validate(dut)}
    return EXPERIMENT.model_copy(update=update)


def offered(kind: str, experiment: Experiment, folder: Path) -> Readings:
    """A short load; all its connections were whole."""
    with session_of(server_class(kind), folder, experiment) as session:
        seen = load_trial(session, RATE, 1.0)
    load, length = seen.trial.traffic, EXPERIMENT.workload.response_bytes
    assert load.tls and load.completed == load.counter("tcps_connattempt") > RATE
    assert load.failed == 0 and load.received_bytes == load.completed * length
    if experiment.load.tls and experiment.load.tls.resumption:
        assert load.tls.handshakes_resumed > load.tls.handshakes_full > 0
    else:
        assert load.tls.handshakes_full == load.completed and not load.tls.handshakes_resumed
    return seen


@pytest.mark.long
@pytest.mark.bed
def test_to_end_tls_costs_a_proxy_both_handshakes(tmp_path: Path) -> None:
    """Before the generator's servers, so that the only nginx is the proxy: some 500 us of OpenSSL
    against 100 for passing it on.
    """
    ended, passed = (
        offered(kind, over_tls(), tmp_path / kind).by_label(metrics.TASK_TIME, "command")
        for kind in ("dut/tls_nginx", "dut/proxy_nginx")
    )
    assert ended["nginx"] > 2 * passed["nginx"] > 0, (ended, passed)


@pytest.mark.long
@pytest.mark.bed
@pytest.mark.parametrize("server", ["engine", "nginx"])
@pytest.mark.parametrize("kind", [*ENDING, *PASSING])
def test_every_connection_passes_over_tls(kind: str, server: str, tmp_path: Path) -> None:
    offered(kind, over_tls(server=server), tmp_path)


@pytest.mark.long
@pytest.mark.bed
@pytest.mark.parametrize("kind", ENDING)
def test_the_server_behind_gets_plain_tcp_if_asked_and_sessions_are_resumed(
    kind: str, tmp_path: Path
) -> None:
    resumed = TlsSettings(certificate="p-256", version="1.3", resumption=True)
    offered(kind, over_tls(resumed, server="nginx", server_tls=False), tmp_path / "plain")
    configuration = (tmp_path / "plain" / "server" / "backend" / "nginx.conf").read_text()
    assert " ssl" not in configuration
    offered(kind, over_tls(resumed, server="nginx"), tmp_path / "both")


@pytest.mark.parametrize("kind", ENDING)
def test_a_load_that_it_cannot_work_with_is_refused_with_what_to_set(kind: str) -> None:
    ends = server_class(kind)
    assert issubclass(ends, Proxy)
    with pytest.raises(StackcostError, match="the load has none") as told:
        ends.wiring_for(server_settings(EXPERIMENT, ends))
    assert "load.tls" in str(told.value)
    with pytest.raises(StackcostError, match="server_tls cannot be false") as told:
        ends.wiring_for(server_settings(over_tls(server_tls=False), ends))
    assert "dut.server: nginx" in str(told.value)
