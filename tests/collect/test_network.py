"""Counters of a namespace, and only of that one."""

import os
import subprocess
import sys

import pytest

from stackcost.collect.network import Network
from stackcost.collect.sampler import Sampler
from stackcost.collect.softnet import Softnet
from stackcost.contracts.sample import Sample

CONNECT = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
for _ in range({count}):
    with socket.create_connection(listener.getsockname()) as client:
        server, _ = listener.accept()
        client.sendall(b"x" * 1000)
        server.recv(1000, socket.MSG_WAITALL)
        server.close()
"""
CONNECT_TO_NOBODY = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.sendto(b"x", ("198.18.0.9", 9))
"""


class Files(dict[str, str]):
    """Stands in for the files of a namespace: their texts by name."""

    def text(self, name: str) -> str:
        return self[name]


def value(samples: list[Sample], metric: str, **labels: str) -> float:
    (found,) = [s for s in samples if s.metric == metric and labels.items() <= s.labels.items()]
    assert found.value is not None
    return found.value


@pytest.mark.bed
def test_a_namespaces_own_sockets_and_packets_are_read(namespace: str) -> None:
    network = Network(namespace)
    network.start()
    try:
        before = network.read()
        run = ["ip", "netns", "exec", namespace, sys.executable, "-c", CONNECT.format(count=20)]
        subprocess.run(run, check=True)
        after = network.read()
    finally:
        network.stop()
    counter = "TcpActiveOpens"
    opened = [value(samples, "tcp.counter", counter=counter) for samples in (before, after)]
    assert opened == [0, 20]
    sent = {"interface": "lo", "direction": "send"}
    assert value(before, "interface.bytes", **sent) == 0
    assert 20_000 < value(after, "interface.bytes", **sent) < 60_000
    assert value(after, "sockstat.sockets", protocol="TCP", state="tw") == 20
    assert all(sample.labels["namespace"] == namespace for sample in after)


@pytest.mark.bed
def test_a_neighbour_that_does_not_answer_is_read(namespace: str) -> None:
    def ip(line: str) -> None:
        subprocess.run(["ip", "-n", namespace, *line.split()], check=True)

    ip("link add dev here type veth peer name there")
    for line in ("link set here up", "link set there up", "address add 198.18.0.1/24 dev here"):
        ip(line)
    network = Network(namespace)
    network.start()
    try:
        run = ["ip", "netns", "exec", namespace, sys.executable, "-c", CONNECT_TO_NOBODY]
        subprocess.run(run, check=True)
        after = network.read()
    finally:
        network.stop()
    assert value(after, "neighbour.unresolved", interface="here", address="198.18.0.9") == 1
    assert value(after, "ip.counter", counter="IcmpOutDestUnreachs") == 0


@pytest.mark.bed
def test_stopping_lets_go_of_the_namespace(namespace: str) -> None:
    descriptors = set(os.listdir("/proc/self/fd"))
    network = Network(namespace)
    network.start()
    network.stop()
    network.stop()
    assert set(os.listdir("/proc/self/fd")) == descriptors


def test_a_namespace_that_is_not_there_is_unknown() -> None:
    with Sampler([Network("stackcost-nowhere")], interval_s=60) as sampler:
        samples = sampler.read_now()
    assert {sample.metric for sample in samples} == {metric.name for metric in Network.metrics}
    assert samples[0].reason == "there is no network namespace stackcost-nowhere"
    assert not os.path.exists("/run/netns/stackcost-nowhere")


def test_what_ip_discards_is_read_of_both_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "snmp": "Ip: InReceives InDiscards OutNoRoutes FragFails\nIp: 900 1 2 3\n"
        "Icmp: InMsgs OutDestUnreachs\nIcmp: 9 6\nTcp: X\nTcp: 0\n",
        "snmp6": "Ip6InReceives 900\nIp6InTooBigErrors 4\nIp6OutNoRoutes 5\n"
        "Icmp6OutDestUnreachs 7\n",
        "arp": "",
        "netstat": "TcpExt: X\nTcpExt: 0\n",
        "sockstat": "",
        "dev": "",
    }
    network = Network()
    monkeypatch.setattr(network, "_files", Files(texts))
    found = {s.labels["counter"]: s for s in network.read() if s.metric == "ip.counter"}
    assert {name: sample.value for name, sample in found.items()} == {
        "IpInDiscards": 1,
        "IpOutNoRoutes": 2,
        "IpFragFails": 3,
        "Ip6InTooBigErrors": 4,
        "Ip6OutNoRoutes": 5,
        "IcmpOutDestUnreachs": 6,
        "Icmp6OutDestUnreachs": 7,
    }
    assert {sample.labels["namespace"] for sample in found.values()} == {"host"}


def test_the_running_kernel_has_these_counters() -> None:
    network = Network()
    network.start()
    try:
        names = {s.labels["counter"] for s in network.read() if s.metric == "ip.counter"}
    finally:
        network.stop()
    assert {"IpFragFails", "IpOutNoRoutes"} <= names
    if os.path.exists("/proc/net/snmp6"):
        assert "Ip6InTooBigErrors" in names


def test_packets_processed_on_a_cpu_are_counted() -> None:
    before = Softnet().read()
    subprocess.run([sys.executable, "-c", CONNECT.format(count=50)], check=True)
    after = Softnet().read()
    totals = [
        sum(s.value or 0 for s in samples if s.metric == "softnet.processed")
        for samples in (before, after)
    ]
    assert totals[1] - totals[0] >= 50 * 5
