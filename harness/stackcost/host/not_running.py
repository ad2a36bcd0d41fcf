"""How long programs could not run although they wanted to: they were stopped, or waited for a core.

Sources: the state in /proc/PID/stat, "T" of a stopped program (proc(5)), by many looks; and the
second number of /proc/PID/task/TID/schedstat, nanoseconds in which a thread was ready to run and
waited (Documentation/scheduler/sched-stats.rst).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
STOPPED = "Tt"  # by a signal, by a debugger
LOOK_S = 0.1


@dataclass
class NotRunning:
    """Watches some processes. `stopped_s`, `waited_s`: of the one that did so longest, seconds."""

    processes: Sequence[int]
    stopped_s: float = 0.0
    waited_s: float = 0.0
    _stopped: dict[int, float] = field(default_factory=dict)

    def watch_until(self, moment: float) -> None:
        """Watch until a moment of CLOCK_MONOTONIC."""
        waited, looked = {each: _waited_s(each) for each in self.processes}, time.monotonic()
        while (left := moment - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_S))
            now = time.monotonic()
            for each in self.processes:
                if _is_stopped(each):
                    self._stopped[each] = self._stopped.get(each, 0.0) + now - looked
            looked = now
        self.stopped_s = max(self._stopped.values(), default=0.0)
        self.waited_s = max((_waited_s(each) - waited[each] for each in self.processes), default=0)


def _is_stopped(process: int) -> bool:
    try:
        text = (PROC / str(process) / "stat").read_text()
    except OSError:  # it has ended
        return False
    return text.rpartition(") ")[2][:1] in STOPPED


def _waited_s(process: int) -> float:
    """The longest of its threads; 0 of a kernel without this account."""
    longest = 0
    for path in (PROC / str(process) / "task").glob("*/schedstat"):
        try:
            longest = max(longest, int(path.read_text().split()[1]))
        except (OSError, IndexError, ValueError):
            continue
    return longest / 1e9
