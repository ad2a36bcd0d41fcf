"""Counters of connection tracking in a network namespace, and the entries of its table."""

import time
from collections.abc import Iterator

from stackcost.collect.namespace_files import NamespaceFiles
from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import CONNTRACK_EVENTS, CONNTRACK_LIMIT
from stackcost.contracts.sample import Kind, Metric, Sample

STATISTICS = "/proc/thread-self/net/stat/nf_conntrack"
SETTINGS = "/proc/sys/net/netfilter"
BUCKETS = Metric("conntrack.buckets", "1", Kind.GAUGE, "nf_conntrack_buckets")
NO_EVENT = ("entries",)  # the table's level, in the same file


class Tracking(Collector):
    """Reads one namespace: a name of `ip netns`.

    Events by name, all cores together, are the columns of the kernel's file
    (net/netfilter/nf_conntrack_standalone.c, ct_cpu_seq_show): insert_failed, drop (no room in the
    table, or no memory), early_drop (an entry that was removed for a new one), invalid, and so on.
    """

    name = "tracking"
    metrics = (CONNTRACK_EVENTS, CONNTRACK_LIMIT, BUCKETS)

    def __init__(self, namespace: str):
        self._files = NamespaceFiles(
            namespace,
            {
                "events": STATISTICS,
                "limit": f"{SETTINGS}/nf_conntrack_max",
                "buckets": f"{SETTINGS}/nf_conntrack_buckets",
            },
        )
        self._labels = {"namespace": namespace}

    def start(self) -> None:
        """Open the files. StackcostError when this kernel has none of them."""
        self._files.open()
        if "limit" not in self._files:
            raise StackcostError("this kernel does not track connections (no nf_conntrack)")

    def read(self) -> list[Sample]:
        """Events since the namespace was made, the table's limit and its hash buckets."""
        now = time.monotonic()
        levels = ((CONNTRACK_LIMIT, "limit"), (BUCKETS, "buckets"))
        return [
            *self._events(now),
            *(m.sample(now, int(self._files.text(name)), **self._labels) for m, name in levels),
        ]

    def stop(self) -> None:
        """Close the files."""
        self._files.close()

    def _events(self, now: float) -> Iterator[Sample]:
        if "events" not in self._files:
            reason = "this kernel has no /proc/net/stat/nf_conntrack (CONFIG_NF_CONNTRACK_PROCFS)"
            yield CONNTRACK_EVENTS.unknown(now, reason, **self._labels)
            return
        names, *rows = (line.split() for line in self._files.text("events").splitlines())
        for column, name in enumerate(names):
            if name not in NO_EVENT:
                grown = sum(int(row[column], 16) for row in rows)
                yield CONNTRACK_EVENTS.sample(now, grown, **self._labels, event=name)
