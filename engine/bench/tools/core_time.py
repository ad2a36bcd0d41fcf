"""Where the time of one CPU goes in a window, exactly (stackcost.collect.cpu_account)."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stackcost.collect.cpu_account import CpuAccount, Detail
from stackcost.contracts.sample import Sample


@dataclass(slots=True)
class CoreTime:
    """Seconds of one CPU in a window. `tasks`: by command and by user, system or task."""

    seconds: float = 0.0
    interrupts: float = 0.0  # softirqs and interrupts
    tasks: dict[tuple[str, str], float] = field(default_factory=dict)

    def of(self, command: str, kind: str | None = None) -> float:
        """Seconds in threads whose command begins so, all kinds of time without `kind`."""
        return sum(
            seconds
            for (name, its_kind), seconds in self.tasks.items()
            if name.startswith(command) and kind in (None, its_kind)
        )


@contextmanager
def core_time(cpu: int, detail: Detail = Detail.SOFTIRQS) -> Iterator[CoreTime]:
    """The account of `cpu` from entry to exit, filled in on exit.

    `detail`: how finely time is booked.
    """
    seen = CoreTime()
    with CpuAccount(detail) as account:
        since, before = time.monotonic(), _booked(account.read(), cpu)
        yield seen
        after, until = _booked(account.read(), cpu), time.monotonic()
    seen.seconds = until - since
    for key, seconds in after.items():
        spent = seconds - before[key]
        if key[0] == "":
            seen.interrupts += spent
        else:
            seen.tasks[key] = spent


def _booked(samples: list[Sample], cpu: int) -> defaultdict[tuple[str, str], float]:
    """Seconds so far by command and kind; the command is empty for softirqs and interrupts."""
    booked: defaultdict[tuple[str, str], float] = defaultdict(float)
    for sample in samples:
        if sample.labels.get("cpu") != str(cpu) or sample.value is None:
            continue
        if sample.metric == "task.time":
            booked[sample.labels["command"], sample.labels["kind"]] += sample.value
        elif sample.metric in ("softirq.time", "irq.time"):
            booked["", sample.metric] += sample.value
    return booked
