"""HAProxy in the middle of the real bed: the farm behind it, its own count, nothing left."""

import dataclasses
import os
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.program_settings import HaproxySettings, ProgramSettings
from stackcost.contracts.server import ServerSettings
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.files import SERVERS
from stackcost.host.cores import CpuPlace
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import processes_inside
from stackcost.servers.own_files import module_of
from stackcost.servers.probe import ask
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import server_settings
from tests.servers.conftest import started

HAProxyFarm = server_class("haproxy/kernel")
haproxy = module_of(SERVERS / "haproxy/server.py")
instances = haproxy.instances

EXPERIMENT = Path(__file__).resolve().parents[2] / "experiments" / "haproxy_cookbook.yaml"


COOKBOOK = read_experiment(EXPERIMENT)  # before a bed narrows the cores that `auto` sees


def settings(workers: int) -> ServerSettings:
    made = server_settings(COOKBOOK, HAProxyFarm)
    program = made.program.model_copy(update={"workers": workers})
    return dataclasses.replace(made, program=program, haproxy=HaproxySettings(backends=2))


@pytest.mark.bed
def test_requests_are_spread_over_the_farm_and_counted(bed: LocalTestbed, tmp_path: Path) -> None:
    endpoint = bed.endpoint(tmp_path / "server")
    with started(HAProxyFarm(endpoint, settings(workers=2))) as server:
        for length in (0, 1024, 10240) * 2:
            request = f"GET /{length}.bin HTTP/1.1\r\nHost: farm\r\n\r\n".encode()
            response = ask(endpoint.namespace, endpoint.address, endpoint.port, request)
            assert response.status == (200 if length else 204) and len(response.body) == length
        assert server.requests_served() == 6
        served = [backend.requests() for backend in server._backends]
        assert len(served) == 2 and min(served) >= 3, "static-rr gives each its share"
        upload = b"POST /upload HTTP/1.1\r\nHost: farm\r\nContent-Length: 4\r\n\r\nbody"
        response = ask(endpoint.namespace, endpoint.address, endpoint.port, upload)
        assert (response.status, response.body) == (200, b"Thank you"), "as the cookbook's farm"
        (pid,) = server.processes().values()
        assert psutil.Process(pid).name() == "haproxy"
        described = server.describe()
        assert "nbthread 2" in described["configuration"] and described["backends"] == 2
    assert not processes_inside(bed.load_namespace) + processes_inside(bed.server_namespace)


class Keeping(Kernel):
    """Its programs have as many descriptors in use as Onload's cache of closed sockets takes."""

    @property
    def kept_sockets(self) -> int:
        return 3000

    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        files = range(self.kept_sockets)
        self.kept = [os.open(os.devnull, os.O_RDONLY) for _ in files]
        try:
            return super().run(command, cpus, **options | {"pass_fds": self.kept})
        finally:
            for number in self.kept:
                os.close(number)


@pytest.mark.bed
def test_a_stack_that_keeps_closed_sockets_leaves_room_for_connections(
    bed: LocalTestbed, tmp_path: Path
) -> None:
    """HAProxy takes no descriptor beyond a number that follows from its maxconn."""
    endpoint = bed.endpoint(tmp_path / "server")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 5000), hard))
    try:
        endpoint = dataclasses.replace(endpoint, stack=Keeping(endpoint.stack.placement))
        few = dataclasses.replace(
            settings(workers=1), program=ProgramSettings(workers=1, worker_connections=64)
        )
        with started(HAProxyFarm(endpoint, few)) as server:
            assert server.requests_served() == 0
            (pid,) = server.processes().values()
            assert psutil.Process(pid).num_fds() > 3000
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("workers", "cpus", "wanted"),
    [
        (1, [4, 5, 6, 7], [[4]]),
        (2, [4, 5, 6, 7], [[4], [6]]),
        (3, [4, 5, 6, 7], [[4, 5], [6]]),
        (6, [4, 5, 6, 7], [[4, 5, 4], [6, 7, 6]]),
        (3, [4, 5], [[4, 5, 4]]),
    ],
)
def test_each_numa_node_has_a_process_with_its_share_of_the_workers(
    workers: int, cpus: list[int], wanted: list[list[int]]
) -> None:
    """CPUs 6 and 7 are on node 1."""
    assert instances(workers, cpus, lambda cpu: CpuPlace(cpu // 6, cpu, 0)) == wanted


def test_the_cookbooks_farm_is_the_same_for_every_number_of_workers() -> None:
    assert server_settings(COOKBOOK, HAProxyFarm).haproxy.backends == 40


@pytest.mark.bed
def test_two_processes_share_the_address_and_their_counts_are_added(
    bed: LocalTestbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine with two NUMA nodes."""
    endpoint = bed.endpoint(tmp_path / "server")
    (cpu,) = endpoint.cpus
    monkeypatch.setattr(haproxy, "instances", lambda workers, cpus: [[cpu], [cpu]])
    request = b"GET /1024.bin HTTP/1.1\r\nHost: farm\r\n\r\n"
    with started(HAProxyFarm(endpoint, settings(workers=2))) as server:
        for _ in range(40):
            ask(endpoint.namespace, endpoint.address, endpoint.port, request)
        own = [server._counted(at) for at in range(2)]
        assert min(own) > 0, "the kernel gives connections to both"
        assert server.requests_served() == 40
        assert len(server.processes()) == 2
    assert not processes_inside(bed.load_namespace) + processes_inside(bed.server_namespace)


@pytest.mark.bed
def test_a_port_of_the_farm_that_is_taken_is_reported(bed: LocalTestbed, tmp_path: Path) -> None:
    first = HAProxyFarm(bed.endpoint(tmp_path / "first"), settings(workers=1))
    second = HAProxyFarm(
        dataclasses.replace(bed.endpoint(tmp_path / "second"), port=8080), settings(workers=1)
    )
    with started(first), pytest.raises(StackcostError, match="1050"), started(second):
        pass


def test_every_row_of_the_cookbook_is_there_and_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "stackcost.experiment.matrix.stack_lacks",
        lambda name, interfaces=(): "" if name == "kernel" else "a part",
    )
    rows = variants(COOKBOOK)
    names = [each.name.partition(":")[0] for each in rows]
    assert set(names) == {
        "haproxy/kernel",
        "haproxy/onload-haproxy-balanced",
        "haproxy/onload-haproxy-performance",
    }
    assert all(bool(each.lacking) == ("onload" in each.name) for each in rows)
