"""Flows in states of the kernel's stack: as many as wanted are there, and the kernel holds them."""

from collections.abc import Iterator

import pytest

from engine.bench.tools.selfcheck.bed import selfcheck_experiment
from stackcost.collect.slab import Slab
from stackcost.host.namespace import execute
from stackcost.runs.loads.kernel_states import half_open, time_wait, tracked
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import ProfileSession, open_profile_session
from stackcost.session.progress import Progress

NginxKernel = server_class("nginx/kernel")

pytestmark = pytest.mark.bed

FLOWS = 300


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileSession]:
    folder = tmp_path_factory.mktemp("logs")
    with open_profile_session(NginxKernel, selfcheck_experiment(), folder, Progress()) as made:
        yield made


def objects(cache: str) -> float:
    return sum(
        sample.value or 0
        for sample in Slab().read()
        if sample.metric == "slab.active" and sample.labels["cache"] == cache
    )


def test_half_open_flows_are_requests_that_get_no_ack(session: ProfileSession) -> None:
    with half_open(session, FLOWS) as held:
        assert held() == FLOWS
        assert objects("request_sock_TCP") >= FLOWS
    assert held() == 0


def test_flows_in_time_wait_are_opened_up_to_the_count(session: ProfileSession) -> None:
    for count in (FLOWS // 2, FLOWS):
        with time_wait(session, count) as held:
            assert held() == count
            assert objects("tw_sock_TCP") >= count


def test_flows_are_tracked_inside_and_forgotten_after(session: ProfileSession) -> None:
    namespace = session.bed.server_namespace
    path = "/proc/sys/net/netfilter/nf_conntrack_count"
    with tracked(session):
        execute(namespace, ["bash", "-c", "echo > /dev/udp/127.0.0.1/8099"])
        assert int(execute(namespace, ["cat", path])) >= 1
    assert int(execute(namespace, ["cat", path])) == 0
