"""What sampling stacks takes of a core: the time of its interrupts, by the exact account.

A program keeps the core busy in user mode, as an idle core is not sampled. In turn, with samples
and without, the account says how long the core was in interrupts and softirqs. Setting the timer
again, which leaves a virtual machine, is part of the interrupt. The entry of the interrupt before
its first tracepoint is not in it.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from stackcost.collect.cpu_account import CpuAccount
from stackcost.collect.stack_samples import StackSamples
from stackcost.contracts.metrics import IRQ_TIME, SOFTIRQ_TIME
from stackcost.host.namespace import OWN, run

from .row import Row, row

SAMPLING_TOLERANCE = 0.005
WARM_UP_S = 0.2
PIECE_S = 2.0


def check_sampling(rounds: int, cpu: int = 1, piece_s: float = PIECE_S) -> Row:
    """A second of a busy core, and the same with the time that sampling takes of it, in ms.

    `rounds`: pairs of pieces of `piece_s` seconds each, with samples and without first in turn.
    """
    taken = list[float]()
    with _busy(cpu), CpuAccount() as account:
        for number in range(rounds):
            pair = {
                sampled: _interrupted(account, cpu, sampled, piece_s)
                for sampled in ((True, False) if number % 2 else (False, True))
            }
            taken.append(pair[True] - pair[False])
    return row(
        "a second of a busy core, with the interrupts that sample its stacks",
        "ms",
        [1000.0] * rounds,
        [1000 * (1 + share) for share in taken],
    )


def _interrupted(account: CpuAccount, cpu: int, sampled: bool, piece_s: float) -> float:
    """Share of the core's time that was in interrupts and softirqs, over one piece."""
    with StackSamples(account, [cpu]) if sampled else nullcontext():
        time.sleep(WARM_UP_S)  # what loading the program takes is not of this core's interrupts
        before, since = _seconds(account, cpu), time.monotonic()
        time.sleep(piece_s)
        return (_seconds(account, cpu) - before) / (time.monotonic() - since)


def _seconds(account: CpuAccount, cpu: int) -> float:
    return sum(
        sample.value or 0.0
        for sample in account.read()
        if sample.metric in (IRQ_TIME.name, SOFTIRQ_TIME.name) and sample.labels["cpu"] == str(cpu)
    )


@contextmanager
def _busy(cpu: int) -> Iterator[None]:
    """A program that runs in user mode on a core, until the end of this or of its parent."""
    parent = os.getpid()
    loop = f"import os\nwhile os.getppid() == {parent}:\n    for _ in range(10_000_000): pass"
    program = run(OWN, [sys.executable, "-S", "-c", loop], [cpu])
    try:
        yield
    finally:
        program.kill()
        program.wait()
