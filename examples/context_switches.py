"""A collector of one's own: how often the server's processes gave up their core, or lost it.

An experiment names this file: `collectors: [context_switches.py]`.
"""

import time
from pathlib import Path

from stackcost.contracts.collector import CollectedFigure, OwnCollector
from stackcost.contracts.sample import Kind, Metric, Sample

SWITCHES = Metric("status.switches", "1", Kind.COUNTER, "/proc/PID/status *_ctxt_switches")


class ContextSwitches(OwnCollector):
    """Reads the kernel's own count of each process of the server."""

    name = "context switches"
    metrics = (SWITCHES,)
    figures = (
        CollectedFigure(
            name="context_switches",
            unit="1",
            definition="context switches of the first thread of each of the server's processes, "
            "per completed connection: voluntary ones, and those that the scheduler forced",
            source=SWITCHES.source,
            metric=SWITCHES.name,
            per="connection",
            by="why",
        ),
    )

    def read(self) -> list[Sample]:
        """Both counts of each process."""
        found = []
        for role, process in self.server.processes().items():
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            now = time.monotonic()
            for line in lines:
                key, _, value = line.partition(":")
                if key.endswith("_ctxt_switches"):
                    why = key.removesuffix("_ctxt_switches")
                    found.append(SWITCHES.sample(now, int(value), role=role, why=why))
        return found
