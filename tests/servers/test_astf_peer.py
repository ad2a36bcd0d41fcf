"""The ASTF peer: a real engine on the server's end, asked by the kernel's stack on the other."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.host.kernel_client import kernel_client
from stackcost.host.namespace import execute, processes_inside
from stackcost.servers.registry import server_class
from tests.servers.conftest import started

AstfPeer = server_class("astf-peer")

pytestmark = pytest.mark.bed
PROFILE = Path(__file__).parents[2] / "trex_profiles" / "http_program.py"


@pytest.fixture(scope="module")
def bare_bed() -> Iterator[LocalTestbed]:
    with LocalTestbed(kernel_server=False) as made:
        yield made


@pytest.fixture(scope="module")
def peer(bare_bed: LocalTestbed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AstfPeer]:
    folder = tmp_path_factory.mktemp("peer")
    with started(
        AstfPeer(bare_bed.endpoint(folder), PROFILE, {"response_bytes": 32_249})
    ) as server:
        yield server
    assert processes_inside(bare_bed.server_namespace) == []


def test_its_response_was_probed(peer: AstfPeer) -> None:
    assert peer.response_length() == 32_249
    peer.check_health()


def test_the_kernels_stack_fetches_it_whole_and_is_counted(
    bare_bed: LocalTestbed, peer: AstfPeer
) -> None:
    before = peer.requests_served()
    assert before == 0
    fill = "X-Fill: " + "x" * 100  # the profile's server waits for 100 bytes
    with kernel_client():
        for _ in range(5):
            form = "%{size_header} %{size_download}"
            command = ["curl", "-sS", "-H", fill, "-o", "/dev/null", "-w", form, "http://48.0.0.1"]
            head, body = execute(bare_bed.load_namespace, command).split()
            assert int(head) + int(body) == 32_249
    assert peer.requests_served() == 5


def test_its_receive_work_is_its_own(peer: AstfPeer) -> None:
    processes = peer.processes()
    assert set(processes) == {"engine", "receive-poll-0"}
    assert all(os.sched_getaffinity(pid) == {1} for pid in processes.values())


def test_a_profile_that_is_not_there_is_reported(
    bare_bed: LocalTestbed, peer: AstfPeer, tmp_path: Path
) -> None:
    peer.stop()
    with pytest.raises(StackcostError, match=r"none\.py"):
        AstfPeer(bare_bed.endpoint(tmp_path), tmp_path / "none.py").start()
    assert processes_inside(bare_bed.server_namespace) == []
