"""Samples of stacks against loads of known kinds, and the clock's own cost."""

import os
import time
from collections import Counter
from collections.abc import Sequence

import pytest

from stackcost.analysis.why.table import table
from stackcost.collect import stack_samples
from stackcost.collect.cpu_account import CpuAccount
from stackcost.collect.sampler import Sampler
from stackcost.collect.stack_samples import StackSamples
from stackcost.contracts.sample import Sample
from stackcost.host.cores import online_cpus
from tests.collect.load import BURN, CALL, SEND, finish, start

pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(os.geteuid() != 0, reason="BPF needs root"),
]
CPU = online_cpus()[-1]
GETPPID = """
import os, time
while time.process_time() < 1:
    for _ in range(10_000): os.getppid()
"""
COPY = """
import socket, time
to, sender = socket.socketpair()
message = bytes(100_000)
while time.process_time() < 1: sender.send(message); to.recv(100_000, socket.MSG_WAITALL)
"""
COPYING = "copying and checksums"


def sampled(program: str) -> tuple[list[Sample], float]:
    """The last count of each stack of a program, and the seconds that the program took."""
    account = CpuAccount()
    with Sampler([account, StackSamples(account, [CPU])], interval_s=0.1) as sampler:
        process = start(program, CPU)
        while process.poll() is None:  # what a process has mapped is known as long as it runs
            sampler.read_now()
            time.sleep(0.05)
        seconds = finish(process)
        sampler.read_now()
        last = {
            tuple(sample.labels.items()): sample
            for sample in sampler.samples
            if sample.metric == "stack.samples" and sample.labels["process"] == str(process.pid)
        }
    return list(last.values()), seconds


def by_kind(samples: Sequence[Sample]) -> Counter[str]:
    found = Counter[str]()
    for sample in samples:
        found[sample.labels["kind"]] += int(sample.value or 0)
    return found


def test_about_500_samples_a_second_are_taken_of_what_runs() -> None:
    samples, seconds = sampled(BURN.format(seconds=1))
    assert 400 * seconds < sum(by_kind(samples).values()) < 600 * seconds
    files = Counter[str]()
    for sample in samples:
        if sample.labels["kind"] == "user":
            files[sample.labels["stack"].partition(";")[0]] += int(sample.value or 0)
    assert any("python" in name for name in files), files


def test_a_stack_of_the_kernel_goes_from_the_system_call_to_what_it_does() -> None:
    samples, _ = sampled(CALL.format(seconds=0.4))
    system = [sample for sample in samples if sample.labels["kind"] == "system"]
    read = sum(s.value or 0 for s in system if "do_syscall_64;ksys_read" in s.labels["stack"])
    assert read > 0.8 * sum(sample.value or 0 for sample in system)


def test_calls_that_do_nothing_are_system_call_entry_and_copies_are_copies() -> None:
    """A call of getppid(2) is hardly more than entry and exit; a large write is copying."""
    for program, category in ((GETPPID, "system-call entry and exit"), (COPY, COPYING)):
        samples, _ = sampled(program)
        found = Counter[str]()
        for sample in samples:
            if sample.labels["kind"] == "system":
                found[table().find(sample.labels["stack"]).category] += int(sample.value or 0)
        assert found.most_common(1)[0][0] == category, found


def test_what_a_softirq_does_is_under_its_vector() -> None:
    samples, _ = sampled(SEND.format(packets=100_000))
    received = [sample for sample in samples if sample.labels["kind"] == "NET_RX"]
    known = sum(s.value or 0 for s in received if "softirq" in s.labels["stack"])
    assert known > 5
    # The kernel cannot unwind from within a retpoline.
    assert known > 0.8 * sum(sample.value or 0 for sample in received)


def test_without_the_right_to_sample_all_metrics_are_unknown_with_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stack_samples, "SOFTWARE", 4711)
    account = CpuAccount()
    with Sampler([account, StackSamples(account, [CPU])], interval_s=10) as sampler:
        read = sampler.read_now()
    unknown = [sample for sample in read if sample.metric.startswith("stack.")]
    assert len(unknown) == 3
    assert all(sample.value is None and "perf_event_open" in sample.reason for sample in unknown)
