"""Packets per CPU as the receive path counts them (/proc/net/softnet_stat), all namespaces."""

import time
from pathlib import Path

from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import SOFTNET_DROPPED
from stackcost.contracts.sample import Kind, Metric, Sample

SOFTNET = Path("/proc/net/softnet_stat")
PROCESSED = Metric("softnet.processed", "1", Kind.COUNTER, "/proc/net/softnet_stat column 1")
SQUEEZED = Metric("softnet.squeezed", "1", Kind.COUNTER, "/proc/net/softnet_stat column 3")
STEERED = Metric("softnet.steered", "1", Kind.COUNTER, "/proc/net/softnet_stat column 10")
CPU_COLUMN = 12  # since kernel 5.10, net/core/net-procfs.c


class Softnet(Collector):
    """Reads every CPU's line."""

    name = "softnet"
    metrics = (PROCESSED, SOFTNET_DROPPED, SQUEEZED, STEERED)

    def read(self) -> list[Sample]:
        """Packets processed and dropped, polls ended by budget, packets steered here (RPS)."""
        now = time.monotonic()
        samples = []
        for line in SOFTNET.read_text().splitlines():
            columns = [int(column, 16) for column in line.split()]
            cpu = str(columns[CPU_COLUMN])
            for metric, column in (
                (PROCESSED, 0),
                (SOFTNET_DROPPED, 1),
                (SQUEEZED, 2),
                (STEERED, 9),
            ):
                samples.append(metric.sample(now, columns[column], cpu=cpu))
        return samples
