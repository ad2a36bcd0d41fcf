"""Messages of the kernel's log that report trouble, counted by kind (/dev/kmsg).

/dev/kmsg gives one record for each read, from where the descriptor stands
(Documentation/ABI/testing/dev-kmsg). A fresh descriptor goes to the end, so only messages of the
trials are counted.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Iterator

from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import KERNEL_LOG_MESSAGES
from stackcost.contracts.sample import Sample

LOG = "/dev/kmsg"
LONGEST_RECORD = 8192  # PRINTKRB_RECORD_MAX, kernel/printk/internal.h, with room
KINDS = {
    "soft lockup": r"soft lockup",
    "hung task": r"blocked for more than \d+ seconds",
    "RCU stall": r"rcu.*(detected stalls|self-detected stall)",
    "page allocation failure": r"page allocation failure",
    "out of memory": r"Out of memory|oom-kill",
    "SYN flooding": r"Possible SYN flooding",
    "connection tracking table full": r"nf_conntrack: .*table full",
    "neighbour table overflow": r"neighbour: .*table overflow",
    "transmit timeout": r"transmit queue \d+ timed out",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in KINDS.items()}


def kinds_of(message: str) -> list[str]:
    """Which of `KINDS` a message is of; usually none."""
    return [kind for kind, pattern in _PATTERNS.items() if pattern.search(message)]


class KernelLog(Collector):
    """Counts the messages of each of `KINDS` since its start; the whole machine's."""

    name = "kernel-log"
    metrics = (KERNEL_LOG_MESSAGES,)

    def __init__(self) -> None:
        self._file = -1
        self._found: Counter[str] = Counter()

    def start(self) -> None:
        """Open the log at its end; StackcostError if this machine gives no access to it."""
        try:
            self._file = os.open(LOG, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            raise StackcostError(f"the kernel's log cannot be read: {error}") from error

    def read(self) -> list[Sample]:
        """The count of every kind, 0 for one that did not come."""
        for message in self._new():
            self._found.update(kinds_of(message))
        now = time.monotonic()
        return [KERNEL_LOG_MESSAGES.sample(now, self._found[kind], kind=kind) for kind in KINDS]

    def stop(self) -> None:
        """Close the log."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _new(self) -> Iterator[str]:
        while True:
            try:
                yield os.read(self._file, LONGEST_RECORD).decode(errors="replace")
            except BlockingIOError:  # nothing more
                return
            except BrokenPipeError:  # records were overwritten before they were read: go on
                continue
