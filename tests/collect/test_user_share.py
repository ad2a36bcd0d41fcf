"""The share of user mode against programs whose own clock tells it."""

import os
import struct
import subprocess
import time
from math import sqrt
from pathlib import Path

import pytest

from stackcost.analysis.cost.core_time import kernel_seconds
from stackcost.analysis.cost.stack_counts import stacks
from stackcost.analysis.cost.user_share import divided
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.thresholds import SHARE_SAMPLES
from stackcost.collect.cpu_account import CpuAccount
from stackcost.collect.sampler import Sampler
from stackcost.collect.stack_samples import StackSamples
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.host.compiler import compile_program
from stackcost.host.cores import online_cpus

pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(os.geteuid() != 0, reason="BPF needs root"),
]
CPU = online_cpus()[-1]
TRACED_S, WINDOW_S = 0.6, 2.0
# Turns of a loop in user mode and of calls of getppid(2), and the nanoseconds of each so far.
PROGRAM = """
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return at.tv_sec * 1000000000ull + at.tv_nsec;
}

int main(int count, char** arguments) {
  volatile uint64_t* spent = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                                  open(arguments[1], O_RDWR), 0);
  const long loops = atol(arguments[2]), calls = atol(arguments[3]);
  volatile long sum = 0;
  while (getppid() != 1) {
    const uint64_t from = now();
    for (long i = 0; i < loops; ++i) sum += i;
    const uint64_t between = now();
    for (long i = 0; i < calls; ++i) syscall(SYS_getppid);
    spent[0] += between - from;
    spent[1] += now() - between;
  }
}
"""


def trial_of(folder: Path, loops: int, calls: int) -> tuple[Trial, float]:
    """A window of such a program after a traced warm-up, and its share of loops by its clock."""
    source, program, counters = folder / "made.c", folder / "made", folder / "spent"
    source.write_text(PROGRAM)
    compile_program(source, program)
    counters.write_bytes(bytes(4096))
    command = ["taskset", "--cpu-list", str(CPU), *map(str, (program, counters, loops, calls))]
    process = subprocess.Popen(command)
    try:
        account = CpuAccount()
        with Sampler([account, StackSamples(account, [CPU])], interval_s=0.2) as sampler:
            account.in_phase("warm-up", on=True)
            time.sleep(TRACED_S)
            traced = account.in_phase("warm-up", on=False)
            sampler.read_now()
            start, before = time.monotonic(), _spent(counters)
            time.sleep(WINDOW_S)
            after, end = _spent(counters), time.monotonic()
            sampler.read_now()
            samples = [*sampler.samples, *traced]
    finally:
        process.kill()
        process.wait()
    in_loops, in_calls = (new - old for new, old in zip(after, before, strict=True))
    trial = Trial("made", 1, 1, ConstantLoad(offered_cps=1), 0)
    trial.phases = {"sustain": Window(start, end)}
    labels = {"role": "worker-0", "process": str(process.pid), "kind": "user"}
    own = Sample(start, "process.cpu_time", labels, 0.0, "s", Kind.COUNTER, "made")
    trial.samples = [*samples, own]
    return trial, in_loops / (in_loops + in_calls)


def _spent(counters: Path) -> tuple[int, int]:
    first, second = struct.unpack("QQ", counters.read_bytes()[:16])
    return first, second


@pytest.mark.parametrize(
    ("loops", "calls"),
    [(0, 1000), pytest.param(100_000, 0, marks=pytest.mark.long), (20_000, 200)],
)
def test_user_mode_is_what_the_programs_clock_says(tmp_path: Path, loops: int, calls: int) -> None:
    """Of calls alone a few per cent are user mode: the loop around them, and the C library."""
    trial, known = trial_of(tmp_path, loops, calls)
    seen = Readings(trial, [CPU])
    cost = kernel_seconds(seen)
    assert cost["user"] is not None and cost["system"] is not None
    found = cost["user"] / (cost["user"] + cost["system"])
    warm_up = Readings(without_stacks(trial), [CPU])
    traced, _ = divided(warm_up, 1.0, processes_of(trial))
    count = sum(each.times for each in stacks(seen) if each.process in processes_of(trial))
    print(f"{loops} loops, {calls} calls: known {known:.3f}, {found:.3f}, traced {traced:.3f}")
    assert count >= SHARE_SAMPLES
    off = abs(found - known)
    assert off < 0.06 + 3 * sqrt(0.25 / count if calls else 0.05 / count), count
    assert traced is not None
    assert off < abs(traced - known) / 3 if calls else off < 0.1


def without_stacks(trial: Trial) -> Trial:
    other = Trial(trial.server, 1, 1, trial.load, 0, phases=trial.phases)
    other.samples = [each for each in trial.samples if each.metric != "stack.samples"]
    return other


def processes_of(trial: Trial) -> set[str]:
    return {s.labels["process"] for s in trial.samples if s.metric == "process.cpu_time"}
