"""On a slow host one setting makes every limit longer within which a part has to answer."""

import socket
import threading
import time
from pathlib import Path

import pytest

from engine.bench.tools.selfcheck.bed import selfcheck_experiment
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.schema import Experiment
from stackcost.host.timeouts import scaled_timeout, timeout_factor
from stackcost.runs.loads.held import SPARE_S, Holding
from stackcost.servers import probe
from stackcost.servers.registry import server_class
from stackcost.session import both_sides, server_session
from stackcost.session.both_sides import problems_of_hosts
from stackcost.session.progress import Progress
from stackcost.session.server_session import running_server
from stackcost.trex import client as client_module
from stackcost.trex.client import TrexClient
from tests.trex.conftest import alive

NginxKernel = server_class("nginx/kernel")

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def experiment(**changed: object) -> Experiment:
    return Experiment.model_validate(selfcheck_experiment().model_dump() | changed)


@pytest.mark.parametrize("factor", [0.5, 101, "long"])
def test_it_is_a_factor_from_1_on(factor: object) -> None:
    with pytest.raises(ValueError, match="timeout_factor"):
        experiment(timeout_factor=factor)
    assert experiment().timeout_factor == 1 and experiment(timeout_factor=3).timeout_factor == 3


def test_a_limit_is_longer_inside_and_for_every_thread() -> None:
    seen: list[float] = []
    with timeout_factor(3):
        reader = threading.Thread(target=lambda: seen.append(scaled_timeout(10)))
        reader.start()
        reader.join()
    assert seen == [30] and scaled_timeout(10) == 10


def test_a_call_to_the_generator_gets_longer_and_the_error_names_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "CALL_LIMIT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute, timeout_factor(5):
        client = TrexClient(rpc_port=mute.getsockname()[1])
        with client, pytest.raises(StackcostError, match=r"did not finish in 2.5 s") as error:
            client.connect()
    assert "timeout_factor: 10" in error.value.hint and not alive(client.process_id)


def test_trexs_own_client_waits_longer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives up by itself, before the call does."""
    monkeypatch.setattr(client_module, "ANSWER_LIMIT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute, timeout_factor(5):
        client = TrexClient(rpc_port=mute.getsockname()[1])
        began = time.monotonic()
        with client, pytest.raises(StackcostError, match="connect") as error:
            client.connect()
    assert "did not finish" not in error.value.what
    assert time.monotonic() - began >= 5 * 0.1


def test_a_server_that_answers_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(probe.netns, "create_socket", lambda name, *kind: socket.socket(*kind))

    def answer_late(listener: socket.socket) -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                time.sleep(0.6)
                connection.send(ANSWER)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer_late, args=(listener,), daemon=True).start()
        where = "here", "127.0.0.1", listener.getsockname()[1], b"GET / HTTP/1.1\r\n\r\n"
        with pytest.raises(StackcostError, match="timed out"):
            probe.ask(*where)
        with timeout_factor(100):
            assert probe.ask(*where).status == 200


def test_hosts_are_examined_with_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def channel(*_: object) -> None:
        seen.append(scaled_timeout(1))
        raise StackcostError("no host here")

    monkeypatch.setattr(both_sides, "_channel", channel)
    bed = {"server": {"host": "b", "interfaces": ["lo"]}, "load": {"interfaces": ["lo"]}}
    on_hosts = experiment(timeout_factor=7, bed=bed, hosts={"b": {"address": "127.0.0.1"}})
    assert problems_of_hosts(on_hosts)["b"] == ["no host here"]
    assert seen == [7] and scaled_timeout(1) == 1


def test_what_is_asked_before_the_server_starts_has_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    def settings(*_: object) -> None:
        seen.append(scaled_timeout(1))
        raise StackcostError("enough")

    monkeypatch.setattr(server_session, "server_settings", settings)
    with (
        pytest.raises(StackcostError, match="enough"),
        running_server(NginxKernel, experiment(timeout_factor=7), tmp_path, Progress()),
    ):
        pass
    assert seen == [7] and scaled_timeout(1) == 1


@pytest.mark.bed
def test_an_experiments_timeout_factor_holds_while_its_server_runs(tmp_path: Path) -> None:
    slow = experiment(timeout_factor=7)
    with running_server(NginxKernel, slow, tmp_path, Progress()):
        assert scaled_timeout(1) == 7
    assert scaled_timeout(1) == 1


def test_flows_are_held_for_longer_where_a_host_reads_slowly() -> None:
    plan = experiment()
    usual = Holding.of(plan).flow_s(0.1)
    with timeout_factor(5):
        longer = Holding.of(plan).flow_s(0.1) - usual
    assert longer == pytest.approx(4 * (plan.memory.read_s + SPARE_S))
