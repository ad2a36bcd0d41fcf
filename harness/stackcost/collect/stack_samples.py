"""Which functions the server's cores were in: samples of stacks, counted in the kernel.

They divide times that are exact (`cpu_account`), and measure none. A software clock fires about
every 2.5 ms on each of the server's cores, and a BPF program counts the stack that it interrupted.
The clock's period is drawn anew several times a second, so that it never walks in step with a load
or a tick. User space does no work for a sample: at each reading it takes the counts.

Each time that it fires takes 6 to 11 us on a virtual machine here, most of it to set the timer
again: 0.25 to 0.45 % of a core (docs/where-the-microseconds-go.md).

The clock cannot fire while interrupts are off. That time lands on the function that switches them
on again; `why.attribution` says how much that may be.
"""

import ctypes
import fcntl
import os
import random
import re
import struct
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from stackcost.collect.bpf import BpfObject
from stackcost.collect.cpu_account import ENTERING, SOFTIRQS, CpuAccount
from stackcost.collect.perf_event import CPU_CLOCK, SET_BPF, SET_PERIOD, SOFTWARE, open_event
from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import IDLE_TASK, STACK_FIRED, STACK_SAMPLES, UNNAMED
from stackcost.contracts.sample import DeferredSamples, Kind, Metric, Sample
from stackcost.host.symbols import Mapped, Names, kernel_names, mapped_files, program_function

LOST = Metric("stack.lost", "1", Kind.COUNTER, STACK_SAMPLES.source)
FRAMES = 64
STACKS_PER_CORE = 4096  # between two readings; a second has 400 samples
PERIOD_NS = (2_000_000, 3_000_000)
DRAWN_EACH_S = 0.2
BESIDE_CALLS = re.compile(
    "asm_.*|entry_SYSCALL[^;]*(;do_syscall_64(;(syscall_enter_from|(syscall_)?exit_to)_user_.*)?)?"
)
Labels: TypeAlias = tuple[tuple[str, str], ...]


class StackKey(ctypes.Structure):
    """struct StackKey of stack_samples.bpf.c."""

    _fields_ = [
        ("addresses", ctypes.c_uint64 * FRAMES),
        ("cpu", ctypes.c_uint32),
        ("process", ctypes.c_uint32),
        ("softirq", ctypes.c_uint32),
        ("idle", ctypes.c_uint32),
        ("user", ctypes.c_uint32),
        ("of_user", ctypes.c_uint32),
        ("command", ctypes.c_char * 16),
    ]


class StackSamples(Collector):
    """Counts the stacks of some cores, by core, kind, process and stack.

    `account`: the exact account that runs, which says what each CPU is doing. `cpus`: the server's
    cores. A stack is the label "stack": functions from the outermost to the innermost, with ";"
    between them. "kind": "user", "system", "idle entry", "idle exit", or the softirq's vector, each
    as of the account. Where that does not divide at system calls, a task that entered or left one
    counts as in user mode, and so does one that was interrupted there by an exception or by a
    reschedule interrupt. In user mode a stack is the file and the function. A core in an idle state
    is not sampled.
    """

    name = "stack samples"
    metrics = (STACK_SAMPLES, LOST, STACK_FIRED)

    def __init__(self, account: CpuAccount, cpus: Collection[int]):
        self._account = account
        self._cpus = cpus
        self._most = STACKS_PER_CORE * len(cpus)
        self._programs: BpfObject | None = None
        self._clocks: dict[int, int] = {}
        self._due = dict.fromkeys(cpus, 0.0)
        self._ended = threading.Event()
        self._drawing = threading.Thread(target=self._draw_periods, name="periods", daemon=True)
        self._counts = Counter[Labels]()
        self._seen: set[Labels] = set()  # by the last reading
        self._last_read = 0.0
        self._kernel = Names([], [], [])
        self._mapped: dict[int, list[Mapped]] = {}
        self._known: dict[bytes, Labels] = {}  # by StackKey: the same come again and again
        self._named: dict[bytes, str] = {}  # stacks of the kernel, of whatever process

    def start(self) -> None:
        """Compile, load, and let the clocks run."""
        self._programs = BpfObject(
            Path(__file__).with_name("stack_samples.bpf.c"),
            [f"STACK_FRAMES={FRAMES}", f"MAX_STACKS={self._most}"],
            shared={"accounts": self._account.map("accounts")},
        )
        self._kernel = kernel_names()
        program = self._programs.program("sample_stack")
        for cpu in self._cpus:
            self._clocks[cpu] = open_event(SOFTWARE, CPU_CLOCK, cpu, period=max(PERIOD_NS))
            fcntl.ioctl(self._clocks[cpu], SET_BPF, program)
        self._last_read = time.monotonic()
        self._drawing.start()

    def read(self) -> DeferredSamples:
        """The counts so far of the stacks that were seen since the last reading.

        Of a stack that was not seen before that, also the count as of the last reading: it may be
        of an earlier trial.
        """
        assert self._programs is not None
        found = self._programs.take_hash("stacks", StackKey, ctypes.c_uint64, self._most)
        now, new = time.monotonic(), Counter[Labels]()
        for key, count in found:
            new[self._labels(key)] += count
        lost = sum(self._programs.read_per_cpu("lost", ctypes.c_uint64))
        due, last_read = dict(self._due), self._last_read
        before = {labels: self._counts[labels] for labels in new.keys() - self._seen}
        for labels, count in new.items():
            self._counts[labels] += count
        after = {labels: self._counts[labels] for labels in new}
        self._seen, self._last_read = set(new), now
        return DeferredSamples(
            {
                (LOST,): lambda: [LOST.sample(now, lost)],
                (STACK_FIRED,): lambda: [
                    STACK_FIRED.sample(now, fired, cpu=str(cpu)) for cpu, fired in due.items()
                ],
                (STACK_SAMPLES,): lambda: [*_samples(last_read, before), *_samples(now, after)],
            }
        )

    def stop(self) -> None:
        """Stop the clocks and unload."""
        self._ended.set()
        if self._drawing.is_alive():
            self._drawing.join()
        for clock in self._clocks.values():
            os.close(clock)
        self._clocks.clear()
        if self._programs:
            self._programs.close()
            self._programs = None

    def _draw_periods(self) -> None:
        since = dict.fromkeys(self._clocks, time.monotonic_ns())
        period = dict.fromkeys(self._clocks, max(PERIOD_NS))
        while not self._ended.wait(DRAWN_EACH_S):
            for cpu, clock in self._clocks.items():
                now = time.monotonic_ns()
                self._due[cpu] += (now - since[cpu]) / period[cpu]
                since[cpu], period[cpu] = now, random.randint(*PERIOD_NS)
                fcntl.ioctl(clock, SET_PERIOD, struct.pack("Q", period[cpu]))

    def _labels(self, key: StackKey) -> Labels:
        whole = bytes(key)
        if labels := self._known.get(whole):
            return labels
        if key.user:
            stack = self._of_program(key.process, key.addresses[0])
        else:
            stack = self._of_kernel(key)
        labels = (
            ("cpu", str(key.cpu)),
            ("kind", self._kind(key, stack)),
            ("process", str(key.process)),
            ("command", key.command.decode(errors="replace")),
            ("stack", stack),
        )
        if stack != UNNAMED:  # it may have a name when the process has loaded the file
            self._known[whole] = labels
        return labels

    def _kind(self, key: StackKey, stack: str) -> str:
        """The kind as the exact account books it: calls are divided at the kernel's tracepoints."""
        if key.idle:
            return IDLE_TASK[key.idle != ENTERING]
        if key.softirq:
            return SOFTIRQS[key.softirq - 1]
        of_user = key.of_user if self._account.divides_calls else BESIDE_CALLS.fullmatch(stack)
        return "user" if key.user or of_user else "system"

    def _of_kernel(self, key: StackKey) -> str:
        """All but the innermost are where a call returns to, which may be the next function."""
        found = bytes(key.addresses)
        if found not in self._named:
            names = [
                self._kernel.at(address - (place > 0)).partition(".")[0] or UNNAMED
                for place, address in enumerate(filter(None, key.addresses))
            ]
            self._named[found] = ";".join(reversed(names)) or UNNAMED
        return self._named[found]

    def _of_program(self, process: int, address: int) -> str:
        """Its maps are read again when an address is in none of them, as after exec(2)."""
        for _ in range(2 if address else 0):
            for mapped in self._mapped.get(process, []):
                if mapped.start <= address < mapped.end:
                    name = mapped.path.rpartition("/")[2]
                    return f"{name};{program_function(process, mapped, address)}"
            self._mapped[process] = mapped_files(process)
        return UNNAMED


def _samples(at: float, counts: Mapping[Labels, int]) -> Iterator[Sample]:
    return (STACK_SAMPLES.sample(at, count, **dict(labels)) for labels, count in counts.items())
