"""How often Onload looked for events, and how many it found, while a trial goes on."""

import time

from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.host.namespace import execute
from stackcost.stacks.onload.observe import stack_stats

COUNTER = Metric("onload.counter", "1", Kind.COUNTER, "orm_json stats")
NAMES = ("k_polls", "u_polls", "rx_evs", "tx_evs")
BITS = 32  # of each counter: a spinning stack goes through all of them within minutes


class OnloadCounters(Collector):
    """Reads Onload's counters of each stack, from a namespace of a program on it."""

    name = "onload"
    metrics = (COUNTER,)

    def __init__(self, namespace: str):
        self._namespace = namespace
        self._last: dict[tuple[str, str], int] = {}

    def read(self) -> list[Sample]:
        """NAMES of each stack; StackcostError where orm_json tells of none."""
        before = time.monotonic()
        stats = stack_stats(execute(self._namespace, ["orm_json", "stats"]))
        now = (before + time.monotonic()) / 2
        if not stats:
            raise StackcostError("orm_json tells of no stack")
        self._last = {
            (stack, name): self._gone_on(stack, name, int(told[name]))
            for stack, told in stats.items()
            for name in NAMES
        }
        return [
            COUNTER.sample(now, count, stack=stack, counter=name)
            for (stack, name), count in self._last.items()
        ]

    def _gone_on(self, stack: str, name: str, told: int) -> int:
        """The count from `told`, its last bits, for a counter that only grows."""
        last = self._last.get((stack, name), told)
        return last + (told - last) % 2**BITS
