"""Receive work runs on the receiver's cores."""

import os
import subprocess
import sys

import pytest

from stackcost.bed.local import LocalTestbed
from stackcost.collect.cpu_account import CpuAccount
from stackcost.host.kernel_client import kernel_client
from stackcost.host.namespace import execute
from stackcost.host.steering import ReceiveWork, cpu_mask, steer_receive

SEND = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("48.0.0.1", 9))
for _ in range(100_000):
    try: s.send(b"x" * 1000)
    except ConnectionRefusedError: pass
"""


@pytest.mark.parametrize(
    ("cpus", "mask"),
    [
        ([0], "00000001"),
        ([1], "00000002"),
        ([0, 3, 31], "80000009"),
        ([32], "00000001,00000000"),
        ([1, 65], "00000002,00000000,00000002"),
        ([], "00000000"),
    ],
)
def test_mask_is_the_kernels_notation(cpus: list[int], mask: str) -> None:
    assert cpu_mask(cpus) == mask


def share_of_server_core(bed: LocalTestbed) -> float:
    """Share of core 1 in NET_RX softirq time while core 0 sends 100,000 datagrams to the server."""

    def read() -> dict[str, float]:
        return {
            sample.labels["cpu"]: sample.value or 0.0
            for sample in account.read()
            if sample.metric == "softirq.time" and sample.labels["vector"] == "NET_RX"
        }

    account = CpuAccount()
    account.start()
    try:
        before = read()
        sender = bed.run(bed.load_namespace, [sys.executable, "-c", SEND], bed.cpus.load)
        assert sender.wait(60) == 0
        after = read()
    finally:
        account.stop()
    spent = {cpu: after[cpu] - before[cpu] for cpu in after}
    return spent["1"] / sum(spent.values())


@pytest.mark.bed
def test_the_servers_receive_work_runs_on_the_servers_core() -> None:
    with LocalTestbed(wanted_hugepages=0) as bed, kernel_client():
        assert share_of_server_core(bed) > 0.95
        # And it is the steering that does it: without, all of it runs where it was sent.
        path = f"/sys/class/net/{bed.server_interface}/queues/rx-0/rps_cpus"
        execute(bed.server_namespace, ["tee", path], stdin="0")
        execute(bed.server_namespace, ["ethtool", "-K", bed.server_interface, "gro", "off"])
        assert share_of_server_core(bed) < 0.1


@pytest.mark.bed
def test_polls_of_an_interface_become_threads_on_its_cores() -> None:
    with LocalTestbed(wanted_hugepages=0) as bed:
        load, server = bed.steer()
        assert server.poll_threads and not load.poll_threads and load.reason
        # GRO gives the load's end the same queue that attaching AF_XDP does.
        execute(bed.load_namespace, ["ethtool", "-K", bed.load_interface, "gro", "on"])
        load, server = bed.steer()
        for end, cpu in ((load, 0), (server, 1)):
            (thread,) = end.poll_threads
            assert os.sched_getaffinity(thread) == {cpu}
            assert os.sched_getscheduler(thread) == os.SCHED_FIFO
        assert bed.steer()[0] == load
        described = bed.describe()["receive_steering"][0]
        assert described["poll_threads"] == load.poll_threads and described["cpus"] == (0,)
    assert not subprocess.run(["pgrep", "napi/sc-"], capture_output=True).stdout


@pytest.mark.bed
def test_every_queue_is_steered() -> None:
    with LocalTestbed(queues=2, wanted_hugepages=0) as bed:
        end = steer_receive(bed.server_namespace, bed.server_interface, ReceiveWork((0, 1)))
        assert end.rps_cpus == {"rx-0": "3", "rx-1": "3"}
