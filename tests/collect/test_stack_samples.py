"""Samples of stacks against loads of known kinds, and the clock's own cost."""

import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from math import hypot, sqrt
from typing import NamedTuple

import pytest

from stackcost.analysis.cost.stack_counts import stacks
from stackcost.analysis.readings import Readings
from stackcost.analysis.why.function_table import table
from stackcost.collect import stack_samples
from stackcost.collect.cpu_account import CpuAccount, Detail
from stackcost.collect.sampler import Sampler
from stackcost.collect.stack_samples import StackSamples
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
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
import os, time
file, into = os.memfd_create("made"), [bytearray(1 << 20)]
os.write(file, into[0])
while time.process_time() < 1: os.preadv(file, into, 0)
"""
# Wakes 400 watchers while it holds a lock with interrupts off (fs/eventfd.c, eventfd_write).
WAKE = """
import os, select, time
event = os.eventfd(0)
watching = [select.epoll() for _ in range(400)]
for each in watching: each.register(event, select.EPOLLIN)
while time.process_time() < 0.5: os.eventfd_write(event, 1)
"""
# A response over loopback; what is received is dropped and not copied.
RESPOND = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 200_000)
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 200_000)
response = bytes({size})
for _ in range({times}):
    server.sendall(response)
    left = {size}
    while left: left -= len(client.recv(left, socket.MSG_TRUNC))
"""
RESPONSES = 150_000
COPYING, ENTRY = "copying and checksums", "system-call entry and exit"
MEMORY = (COPYING, "skb and page allocation")


class Share(NamedTuple):
    """Microseconds of a category, and their standard error by the number of samples."""

    us: float
    error: float


def sampled(program: str) -> tuple[list[Sample], float]:
    """The last count of each stack of a program, and the seconds that the program took."""
    read, seconds = read_of(program)
    return [sample for sample in read if sample.metric == "stack.samples"], seconds


def read_of(program: str, detail: Detail = Detail.SOFTIRQS) -> tuple[list[Sample], float]:
    """The last sample of each series of a program, and the seconds that the program took."""
    account = CpuAccount(detail)
    with Sampler([account, StackSamples(account, [CPU])], interval_s=0.1) as sampler:
        process = start(program, CPU)
        while process.poll() is None:  # what a process has mapped is known as long as it runs
            sampler.read_now()
            time.sleep(0.05)
        seconds = finish(process)
        sampler.read_now()
        last = {
            (sample.metric, *sample.labels.items()): sample
            for sample in sampler.samples
            if sample.labels.get("process") == str(process.pid)
        }
    return list(last.values()), seconds


def test_a_stack_of_an_earlier_trial_is_none_of_a_later_one() -> None:
    """Counts grow over all trials of a session, and many stacks are not seen in each reading."""
    account = CpuAccount()
    with Sampler([account, StackSamples(account, [CPU])], interval_s=10) as sampler:
        stop = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)\n"
        process = start(f"{BURN.format(seconds=0.5)}{stop}{BURN.format(seconds=0.7)}", CPU)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        for _ in range(2):  # it is not seen in the last one
            sampler.read_now()
        mark, start_s = len(sampler.samples), time.monotonic()
        sampler.read_now()  # inside of the window, and not seen yet
        os.kill(process.pid, signal.SIGCONT)
        finish(process)
        sampler.read_now()
        window = {"sustain": Window(start_s, time.monotonic())}
        trial = Trial("made", 1, 1, ConstantLoad(offered_cps=1), 0, phases=window)
        trial.samples = sampler.samples[mark:]
    own = [each for each in stacks(Readings(trial, [CPU])) if each.process == str(process.pid)]
    assert 50 < sum(each.times for each in own) < 110  # of 80; the first part had 200


def by_kind(samples: Sequence[Sample]) -> Counter[str]:
    found = Counter[str]()
    for sample in samples:
        found[sample.labels["kind"]] += int(sample.value or 0)
    return found


def test_about_400_samples_a_second_are_taken_of_what_runs() -> None:
    samples, seconds = sampled(BURN.format(seconds=1))
    assert 320 * seconds < sum(by_kind(samples).values()) < 480 * seconds
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
    """A call of getppid(2) is hardly more than entry and exit; a large read is copying."""
    for program, category in ((GETPPID, ENTRY), (COPY, COPYING)):
        samples, _ = sampled(program)
        found, returns = Counter[str](), 0
        for sample in samples:
            told = table().find(sample.labels["stack"])
            if sample.labels["kind"] == "system":
                found[told.category] += int(sample.value or 0)
            elif told.category == ENTRY:
                assert told.interrupts_off
                returns += int(sample.value or 0)
        assert found[category] > 0.35 * found.total(), found
        assert category != ENTRY or returns > 10, "interrupts are off until a call returns"


def test_user_mode_has_the_share_that_an_account_divided_at_system_calls_has() -> None:
    """Of short calls half of the time is around them, and with interrupts off for the most part."""
    read, _ = read_of(GETPPID, Detail.SYSTEM_CALLS)
    samples = [sample for sample in read if sample.metric == "stack.samples"]
    of_kinds, times = by_kind(samples), Counter[str]()
    for sample in read:
        if sample.metric == "task.time":
            times[sample.labels["kind"]] += sample.value or 0.0
    exact, whole = times["user"] / times.total(), of_kinds["user"] + of_kinds["system"]
    error = sqrt(exact * (1 - exact) / whole)
    assert abs(of_kinds["user"] / whole - exact) < 4 * error, (of_kinds, times)


def test_work_with_interrupts_off_is_in_the_band_of_its_caller() -> None:
    samples, _ = sampled(WAKE)
    off = Counter[str]()
    for sample in samples:
        told = table().find(sample.labels["stack"])
        if told.interrupts_off and sample.labels["kind"] == "system":
            off[told.category] += int(sample.value or 0)
    assert off["sockets and epoll"] > 0.8 * sum(by_kind(samples).values())


def response(size: int) -> dict[str, Share]:
    """Microseconds of a response by category, with their standard errors."""
    samples, seconds = sampled(RESPOND.format(size=size, times=RESPONSES))
    us, whole = seconds / RESPONSES * 1e6, sum(by_kind(samples).values())
    found = Counter[str]()
    for sample in samples:
        if sample.labels["kind"] != "user":
            found[table().find(sample.labels["stack"]).category] += int(sample.value or 0)
    return {
        name: Share(us * times / whole, us * sqrt(times * (1 - times / whole)) / whole)
        for name, times in found.items()
    }


def test_a_longer_response_adds_copying_and_allocation_and_nothing_to_netfilter() -> None:
    short, long = response(32_768), response(65_536)
    none = Share(0.0, 0.0)
    more = sum(long.get(name, none).us - short.get(name, none).us for name in MEMORY)
    error = hypot(*(side.get(name, none).error for side in (short, long) for name in MEMORY))
    assert more > 2 * error, (more, error)
    assert "netfilter and connection tracking" not in short | long


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
