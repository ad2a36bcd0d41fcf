"""The exact CPU account against loads of known size and against the kernel's own counts."""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from engine.bench.tools.selfcheck.least_time import SWITCH_TWICE
from stackcost.analysis.cost.core_time import seconds_by_process
from stackcost.collect import cpu_account
from stackcost.collect.bpf import BpfObject
from stackcost.collect.cpu import CpuTime
from stackcost.collect.cpu_account import NOT_BOOKED, SOFTIRQS, TOO_MANY, CpuAccount, Detail
from stackcost.collect.sampler import Sampler
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import TASK_TIME
from stackcost.contracts.sample import Sample
from stackcost.contracts.window import Window
from stackcost.host import compiler
from stackcost.host.cores import online_cpus
from tests.analysis.trials import seconds_of, seen_in
from tests.collect.load import BURN, CALL, SEND, WAKES, finish, grown, start

pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(os.geteuid() != 0, reason="BPF needs root"),
]


def measure(
    program: str, cpu: int, detail: Detail = Detail.SOFTIRQS, interval_s: float = 0.2
) -> tuple[list[Sample], Window, int, float]:
    """Samples around a program on one CPU, the window, its process id and CPU seconds.

    A reading takes its time on a busy machine, and the window is a quarter of a second: both its
    edges lie between two readings, so that the readings span it however late one of them is.
    """
    with Sampler([CpuAccount(detail), CpuTime()], interval_s=interval_s) as sampler:
        first = time.monotonic()
        sampler.read_now()
        process = start(program, cpu)
        seconds = finish(process)
        sampler.read_now()
        last = time.monotonic()
        sampler.read_now()
        return sampler.samples, Window(first, last), process.pid, seconds


def test_time_closes_on_every_cpu_and_a_burn_is_found_there_under_its_process() -> None:
    cpu = online_cpus()[-1]
    samples, window, process, seconds = measure(BURN.format(seconds=0.5), cpu)
    for each in online_cpus():
        spent = seconds_of(samples, window, each)
        assert spent.residue == pytest.approx(0, abs=0.01 * window.length)
        assert None not in (spent.user, spent.system, spent.irq, spent.softirq, spent.idle)
    ran = seconds_by_process(seen_in(samples, window), cpu)
    (mine,) = [key for key in ran if key[0] == process]
    assert mine[1].startswith("python")
    assert_is(ran[mine], seconds, samples, window, cpu)
    spent = seconds_of(samples, window, cpu)
    assert sum(ran.values()) == pytest.approx(
        (spent.user or 0) + (spent.system or 0), abs=0.02 * window.length
    )


def test_a_program_that_ends_between_two_readings_has_its_own_name() -> None:
    """What runs before exec(2) is booked under the name of the parent."""
    for _ in range(5):
        cpu = online_cpus()[-1]
        samples, window, process, _ = measure(BURN.format(seconds=0.05), cpu, interval_s=60)
        (mine,) = [
            key for key in seconds_by_process(seen_in(samples, window), cpu) if key[0] == process
        ]
        assert mine[1].startswith("python")


def assert_is(
    measured: float, charged: float, samples: list[Sample], window: Window, cpu: int
) -> None:
    """The scheduler charges a process with interrupts on top of it, and not with stolen time."""
    spent = seconds_of(samples, window, cpu)
    assert spent.irq is not None and spent.softirq is not None and spent.stolen is not None
    interrupted, stolen = spent.irq + spent.softirq, spent.stolen + 0.01  # a tick of /proc/stat
    assert 0.97 * charged - interrupted < measured < 1.03 * charged + stolen


def test_user_and_system_time_are_distinguished_at_system_calls() -> None:
    cpu = online_cpus()[-1]
    shares = {}
    for name, program in (("user", BURN), ("system", CALL)):
        samples, window, process, seconds = measure(
            program.format(seconds=0.4), cpu, Detail.SYSTEM_CALLS
        )
        last = {
            s.labels["kind"]: s.value
            for s in samples
            if s.metric == "task.time"
            and (s.labels["process"], s.labels["cpu"]) == (str(process), str(cpu))
        }
        whole = last["user"] + last["system"]
        assert_is(whole, seconds, samples, window, cpu)
        shares[name] = last[name] / whole
    assert shares["user"] > 0.9
    assert shares["system"] > 0.7


@pytest.mark.parametrize(
    ("program", "user"), [(BURN, (0.9, 1.0)), (CALL, (0.0, 0.3))], ids=["user", "system"]
)
def test_user_and_system_time_are_told_while_a_session_divides(
    program: str, user: tuple[float, float]
) -> None:
    cpu = online_cpus()[-1]
    with Sampler([CpuAccount(), CpuTime()], interval_s=0.2) as sampler:
        for _ in range(2):  # what ran between two divisions is in none
            mark, since = len(sampler.samples), time.monotonic()
            sampler.in_phase("warm-up", True)
            process = start(program.format(seconds=0.4), cpu)
            seconds = finish(process)
            sampler.in_phase("warm-up", False)
            finish(start((CALL if program == BURN else BURN).format(seconds=0.2), cpu))
            traced, passed = sampler.samples[mark:], time.monotonic() - since
    of_process, of_cpu = (
        {
            s.labels["kind"]: s.value or 0.0
            for s in traced
            if s.metric == metric and s.labels[label] == str(number)
        }
        for metric, label, number in (
            ("task.traced_time", "process", process.pid),
            ("cpu.traced_time", "cpu", cpu),
        )
    )
    # Others run on the CPU, too, for as long as they will; no more than the time that passed.
    assert 0.8 * seconds < sum(of_process.values()) < 1.1 * seconds
    assert sum(of_process.values()) - 0.05 < sum(of_cpu.values()) <= passed
    assert user[0] <= of_process["user"] / sum(of_process.values()) <= user[1]
    assert all(s.metric != "task.traced_time" or s in traced for s in sampler.samples[mark:])


def test_a_division_that_the_kernel_refuses_is_unknown_and_all_else_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = BpfObject.__init__

    def refuse(self: BpfObject, source: Path, defines: Sequence[str] = ()) -> None:
        if defines:
            raise StackcostError("the kernel refuses cpu_account.bpf.c (Invalid argument)")
        load(self, source, defines)

    monkeypatch.setattr(BpfObject, "__init__", refuse)
    with Sampler([CpuAccount()], interval_s=10) as sampler:
        sampler.in_phase("warm-up", True)
        sampler.in_phase("warm-up", False)
        samples = sampler.samples
    unknown = {s.metric for s in samples if s.value is None}
    assert unknown == {"cpu.traced_time", "task.traced_time"}
    assert all("Invalid argument" in s.reason for s in samples if s.value is None)


def test_a_division_that_fails_is_not_left_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has attached by then would slow the server in the sustain window."""

    def fail(programs: BpfObject) -> None:
        raise StackcostError("BPF map tasks cannot be read (Bad address)")

    monkeypatch.setattr(cpu_account, "_traced", fail)
    links = attached_links()
    with Sampler([CpuAccount()], interval_s=10) as sampler:
        own = attached_links() - links
        sampler.in_phase("warm-up", True)
        assert attached_links() - links == own
        unknown = {s.metric for s in sampler.samples if s.value is None}
    assert unknown == {"cpu.traced_time", "task.traced_time"}


def attached_links() -> int:
    """Descriptors of this process that hold a BPF program at a tracepoint."""
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the listing itself
            found += "bpf_link" in os.readlink(each)
    return found


def test_at_task_switches_alone_softirqs_are_in_the_tasks_time_and_the_rest_is_unknown() -> None:
    cpu = online_cpus()[-1]
    samples, window, process, seconds = measure(SEND.format(packets=20_000), cpu, Detail.TASKS)
    ran = seconds_by_process(seen_in(samples, window), cpu)
    (mine,) = [spent for (number, _), spent in ran.items() if number == process]
    assert 0.97 * seconds < mine, "with the softirqs in which it received what it sent"
    assert grown(samples, window, "task.switches", cpu=str(cpu)) > 0
    for metric in ("cpu.exact_time", "softirq.time", "softirq.count", "irq.time", "irq.count"):
        read = {(s.value, s.reason) for s in samples if s.metric == metric}
        assert read == {(None, NOT_BOOKED)}, metric


@pytest.mark.parametrize("cpu", online_cpus()[:2])
def test_receive_work_is_booked_to_the_cpu_it_ran_on(cpu: int) -> None:
    packets = 20_000
    samples, window, _, _ = measure(SEND.format(packets=packets), cpu)
    labels = {"cpu": str(cpu), "vector": "NET_RX"}
    assert grown(samples, window, "softirq.count", **labels) > packets / 2
    receiving = grown(samples, window, "softirq.time", **labels)
    softirq = seconds_of(samples, window, cpu).softirq
    assert softirq is not None and 0 < receiving <= softirq < window.length


def test_softirqs_are_counted_as_the_kernel_counts_them() -> None:
    account = CpuAccount()
    account.start()
    try:
        outer_first = kernel_counts()
        first = counts(account)
        inner_first = kernel_counts()
        finish(start(SEND.format(packets=2000), online_cpus()[0]))
        inner_last = kernel_counts()
        last = counts(account)
        outer_last = kernel_counts()
    finally:
        account.stop()
    for key in last:
        least = inner_last[key] - inner_first[key]
        most = outer_last[key] - outer_first[key]
        # Some kernels do not trace in some of their own threads: docs/metrics.md.
        assert 0.95 * least - 3 <= last[key] - first[key] <= most + 1, key


def test_a_task_that_waits_for_another_switches_twice_a_step() -> None:
    first, step = SWITCH_TWICE
    steps, cpu = 20_000, online_cpus()[-1]
    samples, window, _, _ = measure(f"{first}\nfor _ in range({steps}): {step}\n", cpu)
    assert 2 * steps <= grown(samples, window, "task.switches", cpu=str(cpu)) < 3 * steps


def test_each_wake_from_idle_takes_its_exit_and_a_busy_core_has_none() -> None:
    cpu, wakes = online_cpus()[-1], 1000
    for _ in range(5):
        samples, window, _, _ = measure(WAKES.format(times=wakes, seconds=0.0005), cpu)
        spent = seconds_of(samples, window, cpu)
        if spent.idle and spent.idle > 0.5 * window.length:
            break
    else:
        pytest.skip(f"others keep CPU {cpu} busy, so it is not idle between two wakes")
    assert spent.idle_entry and spent.idle_exit
    for each in (spent.idle_entry, spent.idle_exit):
        assert 1e-7 < each / wakes < 1e-4
    assert spent.idle_entry + spent.idle_exit < 0.2 * spent.idle, "one that waits is in a state"
    assert spent.residue == pytest.approx(0, abs=0.01 * window.length)
    samples, window, _, _ = measure(BURN.format(seconds=0.3), cpu)
    busy = seconds_of(samples, window, cpu)
    assert busy.idle_exit is not None and busy.idle_exit < spent.idle_exit / 5


def test_timer_interrupts_are_counted_and_timed() -> None:
    cpu = online_cpus()[-1]
    ticks, since = local_timer_ticks(cpu), time.monotonic()
    samples, window, _, _ = measure(BURN.format(seconds=0.3), cpu)
    ticks, seconds = local_timer_ticks(cpu) - ticks, time.monotonic() - since
    labels = {"cpu": str(cpu), "vector": "local_timer"}
    counted = grown(samples, window, "irq.count", **labels)
    assert 0.5 * ticks * window.length / seconds < counted <= ticks
    timed = grown(samples, window, "irq.time", **labels)
    irq = seconds_of(samples, window, cpu).irq
    assert irq is not None and counted * 1e-7 < timed <= irq < 0.1 * window.length


def local_timer_ticks(cpu: int) -> int:
    lines = Path("/proc/interrupts").read_text().splitlines()
    (row,) = [line.split() for line in lines if line.lstrip().startswith("LOC:")]
    return int(row[1 + online_cpus().index(cpu)])


def counts(account: CpuAccount) -> dict[tuple[str, str], float]:
    return {
        (sample.labels["cpu"], sample.labels["vector"]): sample.value or 0
        for sample in account.read()
        if sample.metric == "softirq.count"
    }


def kernel_counts() -> dict[tuple[str, str], int]:
    header, *lines = Path("/proc/softirqs").read_text().splitlines()
    cpus = [name.removeprefix("CPU") for name in header.split()]
    rows = [line.split() for line in lines]
    assert tuple(row[0].rstrip(":") for row in rows) == SOFTIRQS
    return {
        (cpu, row[0].rstrip(":")): int(count)
        for row in rows
        for cpu, count in zip(cpus, row[1:], strict=True)
    }


def test_a_machine_without_a_compiler_has_unknown_figures_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    compiler._image.cache_clear()  # as in a new process
    with Sampler([CpuAccount(), CpuTime()], interval_s=10) as sampler:
        samples = sampler.read_now()
    unknown = {sample.metric for sample in samples if sample.value is None}
    assert unknown == {metric.name for metric in CpuAccount.metrics}
    assert all("clang is not installed" in s.reason for s in samples if s.value is None)
    assert any(sample.metric == "cpu.time" for sample in samples)


def test_an_account_that_ends_in_mid_trial_is_unknown_from_then_on_and_the_others_go_on() -> None:
    account = CpuAccount()
    with Sampler([account, CpuTime()], interval_s=10) as sampler:
        first = sampler.read_now()
        account.stop()  # as when its programs are taken out of the kernel
        last = sampler.read_now()
    assert all(sample.value is not None for sample in first)
    lost = {s.metric: s.reason for s in last if s.value is None}
    assert lost == {
        metric.name: "cpu account: the BPF program is not running" for metric in CpuAccount.metrics
    }
    assert any(sample.metric == "cpu.time" and sample.value for sample in last)


def test_more_threads_than_there_is_room_for_make_the_time_of_all_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time of those that found no room is in no thread's, and a cost would lack it."""
    monkeypatch.setattr(cpu_account, "MAX_TASKS", 2)
    with Sampler([CpuAccount()], interval_s=10) as sampler:
        finish(start(BURN.format(seconds=0.05), online_cpus()[-1]))
        sampler.read_now()
        read = [sample for sample in sampler.samples if sample.metric == TASK_TIME.name]
    assert read and {(sample.value, sample.reason) for sample in read} == {(None, TOO_MANY)}
