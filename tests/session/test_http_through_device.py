"""HTTPS clients through a device to a server behind it: each part has its own cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stackcost.analysis.cost.core_time import sum_of
from stackcost.analysis.cost.cpu import backend_cost, server_cost
from stackcost.analysis.readings import Readings
from stackcost.bed.lock import RunLock
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import HttpClients
from stackcost.contracts.metrics import INTERFACE_PACKETS
from stackcost.contracts.trial import Trial
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE, DUT_NAMESPACE
from stackcost.experiment.read_file import read_experiment
from stackcost.host.signals import ending_signals_raise
from stackcost.runs.loads.http import run_http_trial
from stackcost.servers.registry import server_class
from stackcost.session.http_session import HttpSession, open_http_session
from stackcost.session.progress import Progress

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
EXPERIMENT = read_experiment(
    EXPERIMENTS / "dut_tls_clients.yaml", True
)  # before a bed narrows the cores
SUSTAIN_S = 1.0


@contextmanager
def session_of(name: str, folder: Path, behind: str = "nginx") -> Iterator[HttpSession]:
    dut = EXPERIMENT.dut.model_copy(update={"server": behind})
    experiment = EXPERIMENT.model_copy(update={"dut": dut})
    with (
        RunLock(),
        ending_signals_raise(),
        open_http_session(server_class(name), experiment, folder, Progress()) as session,
    ):
        yield session


def made(session: HttpSession, test: str, rate: float | None = None) -> Readings:
    trial = Trial(
        session.local_server.server.name, 1, 1, HttpClients(test=test, offered_rps=rate), None
    )
    run_http_trial(session, trial, sustain_s=SUSTAIN_S)
    return Readings(trial, EXPERIMENT.cores.server)


@pytest.mark.bed
@pytest.mark.parametrize(
    "name",
    [
        "dut/nat44",
        pytest.param("dut/forwarding", marks=pytest.mark.long),
        pytest.param("dut/bridge", marks=pytest.mark.long),
    ],
)
def test_a_handshake_passes_the_device_and_its_cost_is_told_from_the_servers(
    name: str, tmp_path: Path
) -> None:
    with session_of(name, tmp_path) as session:
        for _attempt in range(3):
            seen = made(session, "latency-new", 50.0)
            load = seen.trial.load
            assert isinstance(load, HttpClients) and load.counted and load.server_requests
            assert load.counted.requests >= 40 and not load.counted.failed
            device = server_cost(seen)
            server = backend_cost(seen.on(EXPERIMENT.cores.load))
            entered = seen.growth(
                INTERFACE_PACKETS,
                namespace=DUT_NAMESPACE,
                interface=DUT_CLIENT_INTERFACE,
                direction="receive",
            )
            # In so short a trial the kernel's ticks may have met the program in one of its modes
            # only.
            handshake = sum_of([server["user"], server["system"]]) or 0
            if (device["user"] or 0) < handshake / 2:
                break
    # A handshake is work of the server's program, and a router has none. Other programs' time on
    # the device's cores is in its cost, too: what they disturbed is repeated.
    assert handshake > 0 and (device["user"] or 0) < handshake / 2, (device, server)
    assert (sum_of(device.values()) or 0) > 0, device
    assert (entered or 0) > 4 * 50 * SUSTAIN_S, "SYN, ACK, and both flights of a handshake"


@pytest.mark.parametrize("name", ["dut/service_nftables", "dut/proxy_haproxy", "dut/nat64"])
def test_a_device_that_passes_one_port_is_refused(name: str, tmp_path: Path) -> None:
    with (
        pytest.raises(StackcostError, match="cannot serve HTTP clients"),
        session_of(name, tmp_path),
    ):
        pass


def test_a_device_without_a_server_of_its_own_is_refused_with_what_to_set(tmp_path: Path) -> None:
    with (
        pytest.raises(StackcostError, match="a server on the kernel's stack") as told,
        session_of("dut/forwarding", tmp_path, "engine"),
    ):
        pass
    assert "dut.server: nginx" in str(told.value)
