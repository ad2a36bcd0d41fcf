"""Kernel memory by slab cache (/proc/slabinfo): which kernel objects a connection is made of.

Bytes are those of whole slabs, as taken from the page allocator: what the machine lacks, not what
objects fill. SLUB counts as active also the free objects of slabs that a CPU holds, so
`slab.active` is high by up to some slabs per CPU; slopes over many connections are not affected.

Caches of equal size and flags are merged unless the kernel booted with slab_nomerge, and appear
under one of their names: `merged_caches` says what else is in one.
"""

import os
import time
from collections import defaultdict
from pathlib import Path

from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import SLAB_ACTIVE, SLAB_BYTES, SLAB_OBJECTS
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.host.as_root import same_as_root

SLABINFO = Path("/proc/slabinfo")
ALIASES = Path("/sys/kernel/slab")
OBJECT_SIZE = Metric("slab.object_size", "B", Kind.GAUGE, "/proc/slabinfo objsize")


class Slab(Collector):
    """Reads every slab cache that holds objects."""

    name = "slab"
    metrics = (SLAB_BYTES, SLAB_ACTIVE, SLAB_OBJECTS, OBJECT_SIZE)

    def read(self) -> list[Sample]:
        """Four samples for each cache."""
        now = time.monotonic()
        try:
            version, _, *lines = SLABINFO.read_text().splitlines()
        except OSError as error:
            raise StackcostError(
                f"{SLABINFO} cannot be read ({error.strerror})", f"run as root: {same_as_root()}"
            ) from error
        if version != "slabinfo - version: 2.1":
            raise StackcostError(f"{SLABINFO} has an unknown format: {version}")
        page = os.sysconf("SC_PAGE_SIZE")
        samples = []
        for line in lines:
            objects, _, slabs = line.split(":")
            cache, active, total, size, _, pages_per_slab = objects.split()
            slab_count = int(slabs.split()[2])
            if not int(total):
                continue
            for metric, value in (
                (SLAB_BYTES, slab_count * int(pages_per_slab) * page),
                (SLAB_ACTIVE, int(active)),
                (SLAB_OBJECTS, int(total)),
                (OBJECT_SIZE, int(size)),
            ):
                samples.append(metric.sample(now, value, cache=cache))
        return samples


def merged_caches() -> dict[str, list[str]]:
    """For each cache that shares its slabs, the names it is merged with; empty if unknown."""
    names: dict[str, list[str]] = defaultdict(list)
    if not ALIASES.is_dir():
        return {}
    for entry in sorted(ALIASES.iterdir()):
        if entry.is_symlink():
            names[os.readlink(entry)].append(entry.name)
    return {
        name: [other for other in together if other != name]
        for together in names.values()
        for name in together
        if len(together) > 1
    }
