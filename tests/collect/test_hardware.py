"""Counters of the processor: absent with a reason, or true; the reading itself is always tested."""

import os
import time

import pytest

from stackcost.collect.hardware import Event, HardwareCounters
from stackcost.collect.perf_event import SOFTWARE
from stackcost.collect.sampler import Sampler
from stackcost.contracts.metrics import CPU_CYCLES, CPU_INSTRUCTIONS
from stackcost.contracts.sample import Kind, Metric
from stackcost.host.cores import online_cpus
from tests.collect.load import BURN, finish, start

pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(os.geteuid() != 0, reason="counting on whole CPUs needs root"),
]

CLOCK = Event(Metric("made.clock", "1", Kind.COUNTER, "a test"), SOFTWARE, 0)  # CPU_CLOCK, ns


def test_what_a_cpu_counts_is_read_by_cpu_and_mode() -> None:
    counters = HardwareCounters((CLOCK,))
    counters.start()
    try:
        before, first = (
            time.monotonic(),
            {tuple(s.labels.items()): s.value for s in counters.read()},
        )
        time.sleep(0.2)
        last = {tuple(s.labels.items()): s.value for s in counters.read()}
        passed = time.monotonic() - before
    finally:
        counters.stop()
    assert {dict(key)["cpu"] for key in last} == {str(cpu) for cpu in online_cpus()}
    for key, value in last.items():
        grown = (value or 0) - (first[key] or 0)
        assert 0.19e9 < grown <= passed * 1e9, key


def test_cycles_are_counted_or_unknown_with_a_reason() -> None:
    cpu = online_cpus()[-1]
    with Sampler([HardwareCounters()], interval_s=10) as sampler:
        first = sampler.read_now()
        finish(start(BURN.format(seconds=0.2), cpu))
        last = sampler.read_now()
    for metric in (CPU_CYCLES, CPU_INSTRUCTIONS):
        mine = [s for s in first + last if s.metric == metric.name]
        if mine[0].value is None:
            assert all(s.value is None and "no counters" in s.reason for s in mine)
            continue
        user = [s.value or 0 for s in mine if s.labels == {"cpu": str(cpu), "mode": "user"}]
        assert user[-1] - user[0] > 1e7
