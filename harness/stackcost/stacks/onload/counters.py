"""How often Onload looked for events, and how many it found, while a trial goes on."""

import time
from collections.abc import Callable, Collection

from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import ONLOAD_COUNTER
from stackcost.contracts.sample import Sample
from stackcost.host.namespace import execute
from stackcost.stacks.onload.observe import STACKS, STATS, stack_stats, stacks_of

NAMES = ("k_polls", "u_polls", "rx_evs", "tx_evs", "ul_accepts", "sockcache_hit")
BITS = 32  # of each counter: a spinning stack goes through all of them within minutes


class OnloadCounters(Collector):
    """Reads Onload's counters of the stacks of some programs, from their namespace.

    `programs`: tells their process ids. Which stacks they have is asked once, as it stays so.
    """

    name = "onload"
    metrics = (ONLOAD_COUNTER,)

    def __init__(self, namespace: str, programs: Callable[[], Collection[int]]):
        self._namespace = namespace
        self._programs = programs
        self._stacks: frozenset[str] = frozenset()
        self._last: dict[tuple[str, str], int] = {}

    def read(self) -> list[Sample]:
        """NAMES of each stack; StackcostError where there is none."""
        if not self._stacks:
            self._stacks = stacks_of(execute(self._namespace, STACKS), self._programs())
        before = time.monotonic()
        stats = stack_stats(execute(self._namespace, STATS))
        now = (before + time.monotonic()) / 2
        if not self._stacks & stats.keys():
            raise StackcostError("orm_json reports no stack of the programs")
        self._last = {
            (stack, name): self._gone_on(stack, name, int(stats[stack][name]))
            for stack in sorted(self._stacks & stats.keys())
            for name in NAMES
            if name in stats[stack]  # a build without socket caching does not count it
        }
        return [
            ONLOAD_COUNTER.sample(now, count, stack=stack, counter=name)
            for (stack, name), count in self._last.items()
        ]

    def _gone_on(self, stack: str, name: str, told: int) -> int:
        """The count from `told`, its last bits, for a counter that only grows."""
        last = self._last.get((stack, name), told)
        return last + (told - last) % 2**BITS
