"""Tiers on the real bed: set, read back, said, and undone, also after a kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.bed.tuning import ALLOWED, Tuning, layout, tier_lacks, tier_names, tier_of
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.tuning import CONGESTION_CONTROL
from stackcost.host import host_sysctl
from stackcost.host.cores import CpuPlace
from stackcost.host.namespace import execute
from stackcost.host.steering import ReceiveWork, steer_receive

BUSY_POLL = "net.core.busy_poll"
LEAVE_IT_SET = """
import os, signal
from stackcost.bed.local import LocalTestbed
from stackcost.bed.tuning import Tuning, tier_of
with LocalTestbed(wanted_hugepages=0) as bed, Tuning(tier_of("busy-polling"), bed.server_namespace):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.bed
def test_settings_of_the_machine_are_restored_by_the_next_start_after_a_kill() -> None:
    before = host_sysctl.read(BUSY_POLL)
    done = subprocess.run(
        [sys.executable, "-c", LEAVE_IT_SET], cwd=Path(__file__).parents[2], capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    if host_sysctl.read(BUSY_POLL) == before:
        pytest.skip("this machine does not let net.core.busy_poll be set")
    with LocalTestbed(wanted_hugepages=0):
        assert host_sysctl.read(BUSY_POLL) == before


@pytest.fixture(scope="module")
def bed() -> Iterator[LocalTestbed]:
    with LocalTestbed(wanted_hugepages=0) as made:
        yield made


@pytest.mark.parametrize("name", tier_names())
def test_every_setting_of_every_tier_has_a_source(name: str) -> None:
    tier = tier_of(name)
    assert tier.title and tier.source
    settings = [*tier.sysctls.values(), *(s for part in tier.nginx.values() for s in part.values())]
    assert all(setting.source for setting in settings)
    assert tier.receive.source or tier.receive == type(tier.receive)()


@pytest.mark.bed
def test_a_tier_is_set_read_back_and_undone(bed: LocalTestbed) -> None:
    def backlog() -> str:
        return execute(bed.server_namespace, ["sysctl", "-n", "net.core.somaxconn"]).strip()

    before, host_before = backlog(), host_sysctl.read("net.core.netdev_max_backlog")
    with Tuning(tier_of("published"), bed.server_namespace) as tuning:
        by_name = {change.setting: change for change in tuning.changes}
        assert backlog() == "65000" != before
        change = by_name["net.core.somaxconn"]
        assert (change.before, change.after, change.where) == (before, "65000", "namespace")
        host = by_name["net.core.netdev_max_backlog"]
        assert host.where == "machine" and host.before == host_before
        assert host.reason or host_sysctl.read("net.core.netdev_max_backlog") == "9999999"
        assert by_name["fs.file-max"].where == "machine", "a namespace has no fs.* of its own"
        unknown = by_name["sunrpc.tcp_fin_timeout"]
        assert unknown.after is None and "no such setting" in unknown.reason
    assert backlog() == before
    assert host_sysctl.read("net.core.netdev_max_backlog") == host_before


@pytest.mark.bed
def test_what_a_source_says_and_is_left_out_is_reported_with_its_reason(bed: LocalTestbed) -> None:
    pages = host_sysctl.read("vm.nr_hugepages")
    with Tuning(tier_of("cookbook"), bed.server_namespace) as tuning:
        (left,) = (change for change in tuning.changes if change.setting == "vm.nr_hugepages")
        assert "20 GB" in left.reason and left.before == left.after == pages


@pytest.mark.bed
def test_a_congestion_control_that_namespaces_may_not_choose_is_allowed_for_so_long(
    bed: LocalTestbed,
) -> None:
    before = host_sysctl.read(ALLOWED)
    with Tuning(tier_of("cookbook"), bed.server_namespace) as tuning:
        (change,) = (each for each in tuning.changes if each.setting == CONGESTION_CONTROL)
        assert (change.after, change.reason) == ("cubic", "")
    assert host_sysctl.read(ALLOWED) == before


@pytest.mark.bed
def test_receive_work_is_done_as_a_tier_wants_it(bed: LocalTestbed) -> None:
    where = bed.server_namespace, bed.server_interface
    rps = steer_receive(*where, ReceiveWork((1,), poll_threads=False))
    assert rps.poll_threads == () and set(rps.rps_cpus.values()) == {"2"}
    napi = steer_receive(*where, ReceiveWork((1,), packet_steering=False))
    assert napi.poll_threads and set(napi.rps_cpus.values()) == {"0"}
    assert os.sched_getaffinity(napi.poll_threads[0]) == {1}


def test_a_tier_may_be_a_file_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("title: my own\nsource: me\nsysctls: {net.a: {value: 1, source: me}}\n")
    assert tier_of(str(file)).name == "mine" and tier_of(str(file)).sysctls["net.a"].value == "1"
    file.with_name("bad.yaml").write_text("title: no source\n")
    with pytest.raises(StackcostError, match=r"bad\.yaml is not a tuning tier"):
        tier_of(str(file.with_name("bad.yaml")))


def test_pinning_apart_needs_a_core_for_each() -> None:
    tier = tier_of("pinned-apart")
    assert "needs 2 server cores" in tier_lacks(tier, 1) and not tier_lacks(tier, 2)


def places(*of: tuple[int, int, int]) -> Callable[[int], CpuPlace]:
    """CPUs by number, each with node, physical core and thread."""
    return lambda cpu: CpuPlace(*of[cpu])


PLAIN = places(*((0, cpu, 0) for cpu in range(6)))
SIBLINGS_APART = places(*((0, cpu % 3, cpu // 3) for cpu in range(6)))
SIBLINGS_BESIDE = places(*((0, cpu // 2 * 2, cpu % 2) for cpu in range(6)))
TWO_NODES = places(*((cpu // 4, cpu // 2 * 2, cpu % 2) for cpu in range(8)))


@pytest.mark.parametrize(
    ("place", "cores", "receive", "programs"),
    [
        (PLAIN, (2, 3, 4, 5), (2, 3), (4, 5)),
        (SIBLINGS_APART, (0, 1, 2, 3, 4, 5), (0, 1, 2), (3, 4, 5)),
        (SIBLINGS_BESIDE, (0, 1, 2, 3, 4, 5), (0, 2, 4), (1, 3, 5)),
        (TWO_NODES, tuple(range(8)), (0, 1, 2, 3), (4, 5, 6, 7)),
    ],
    ids=["a thread for each core", "siblings apart", "siblings beside", "two nodes"],
)
def test_receive_work_apart_is_on_threads_or_nodes_of_its_own(
    place: Callable[[int], CpuPlace],
    cores: tuple[int, ...],
    receive: tuple[int, ...],
    programs: tuple[int, ...],
) -> None:
    """The white paper's table 1, configuration 1."""
    assert layout(tier_of("pinned-apart").receive, cores, place) == (receive, programs)
    assert layout(tier_of("pinned-together").receive, cores, place) == (cores, cores)
