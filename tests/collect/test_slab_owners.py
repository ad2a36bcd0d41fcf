"""Owners of slab objects against programs that take a known number of them."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from stackcost.analysis.why.function_table import table
from stackcost.collect.sampler import Sampler
from stackcost.collect.slab_owners import EVERY, SlabOwners
from stackcost.contracts.sample import Sample
from stackcost.host.cores import online_cpus

pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(os.geteuid() != 0, reason="BPF needs root"),
]
PAIRS = """
import socket, sys, time
for _ in range({closed}): [each.close() for each in socket.socketpair()]
kept = [socket.socketpair() for _ in range({kept})]
time.sleep({closed} / 1500)
print(flush=True)
sys.stdin.read()
"""


def followed(cpus: Sequence[int], kept: int, closed: int) -> list[Sample]:
    """What was followed while a program made pairs of sockets, and closed some of them."""
    with Sampler([SlabOwners(cpus)], interval_s=10) as sampler:
        sampler.in_phase("held", True)
        command = ["taskset", "-c", str(online_cpus()[-1]), sys.executable, "-S", "-c"]
        command.append(PAIRS.format(kept=kept, closed=closed))
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            assert program.stdin and program.stdout
            program.stdout.readline()
            sampler.in_phase("held", False)
            program.stdin.close()
        return sampler.samples


def of_sockets(samples: Sequence[Sample], metric: str) -> float:
    """Inodes of sockets."""
    found = Counter[str]()
    for sample in samples:
        if sample.metric == metric and sample.labels["cache"] == "sock_inode_cache":
            found[table().owner(sample.labels["stack"])] += int(sample.value or 0)
    assert set(found) <= {"sock_alloc_inode"}, found
    return sum(found.values())


@pytest.mark.parametrize(("kept", "closed"), [(1500, 0), (0, 1500)])
def test_objects_are_counted_under_the_function_that_wants_them(kept: int, closed: int) -> None:
    samples = followed(online_cpus(), kept, closed)
    error = 5 * (2 * 1500 * EVERY) ** 0.5  # of draws of one in EVERY
    # A socket is freed after a grace period of RCU: most are within the second that is waited.
    left, passed = (of_sockets(samples, f"slab.{each}") for each in ("left", "passed"))
    assert left + passed == pytest.approx(3000, abs=error)
    assert left >= 3000 - error if kept else passed > 1000


def test_other_cores_are_not_followed_and_none_when_it_is_off() -> None:
    assert not of_sockets(followed(online_cpus()[:-1], 500, 0), "slab.left")
    with Sampler([SlabOwners(online_cpus())], interval_s=10) as sampler:
        sampler.in_phase("held", False)
        sampler.read_now()
        assert not sampler.samples
