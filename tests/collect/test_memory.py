"""Slab caches and processes against memory of known size."""

import contextlib
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from stackcost.collect.process import BackendProcesses, Processes
from stackcost.collect.slab import Slab, merged_caches
from stackcost.contracts.metrics import POLL_ROLE

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="/proc/slabinfo is root's")
pytestmark = pytest.mark.bed
CONNECTIONS = 2000
MEGABYTES = 64


def slab() -> dict[tuple[str, str], float]:
    return {(sample.metric, sample.labels["cache"]): sample.value or 0 for sample in Slab().read()}


@contextlib.contextmanager
def connections(count: int) -> Iterator[None]:
    """Established TCP connections over loopback, both ends held here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * count + 100), hard))
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=128))
        for _ in range(count):
            stack.enter_context(socket.create_connection(listener.getsockname()))
            stack.enter_context(listener.accept()[0])
        yield


@needs_root
def test_held_connections_show_in_the_tcp_cache() -> None:
    before = slab()
    with connections(CONNECTIONS):
        held = slab()
    sockets = 2 * CONNECTIONS
    grown = {key: held[key] - before.get(key, 0) for key in held}
    assert grown["slab.active", "TCP"] == pytest.approx(sockets, rel=0.1)
    size, objects = held["slab.object_size", "TCP"], held["slab.objects", "TCP"]
    assert objects >= sockets
    assert held["slab.bytes", "TCP"] == pytest.approx(objects * size, rel=0.1)
    assert grown["slab.active", "sock_inode_cache"] == pytest.approx(sockets, rel=0.1)
    caches = {cache for _, cache in held}
    used = {cache: held["slab.active", cache] / held["slab.objects", cache] for cache in caches}
    assert max(used.values()) <= 1 and min(used.values()) < 1


def test_sockets_behind_a_device_are_those_of_its_servers_namespace() -> None:
    roles = {f"{POLL_ROLE}-0": 2, "master": os.getpid()}  # a kernel's thread is in none

    def count() -> float:
        (found,) = [s for s in BackendProcesses(roles).read() if s.metric == "backend.sockets"]
        return found.value or 0

    before = count()
    with connections(100):
        held = count()
    assert held - before == pytest.approx(201, abs=5), "both ends, and the listener"


@needs_root
def test_merged_caches_name_each_other() -> None:
    merged = merged_caches()
    for cache, others in merged.items():
        assert cache not in others
        assert all(cache in merged[other] for other in others)


def test_resident_memory_of_a_process_by_role() -> None:
    program = "block = bytearray(b'x') * ({} << 20); print(flush=True); input()"
    sizes = []
    for megabytes in (0, MEGABYTES):
        child = subprocess.Popen(
            [sys.executable, "-c", program.format(megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdout
        child.stdout.readline()
        samples = Processes(lambda number=child.pid: {"worker-0": number}).read()
        child.communicate(b"\n")
        assert all(sample.labels["role"] == "worker-0" for sample in samples)
        sizes.append({s.metric: s.value or 0 for s in samples if "kind" not in s.labels})
    for metric in ("process.rss", "process.pss", "process.uss"):
        assert sizes[1][metric] - sizes[0][metric] == pytest.approx(MEGABYTES << 20, rel=0.05)
    assert sizes[0]["process.threads"] == 1


def test_a_process_that_ended_is_unknown() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    samples = Processes(lambda: {"master": child.pid}).read()
    assert {sample.metric for sample in samples} == {m.name for m in Processes.metrics}
    assert all(s.value is None and s.reason.endswith("(master) has ended") for s in samples)
