"""Which functions of the kernel allocate the slab objects of connections.

It follows one allocation in EVERY on the server's cores, drawn at random, and only while flows are
opened and held: the tracepoints slow every allocation and every release. Stacks are
counted in the kernel. How many bytes a cache takes is read exactly elsewhere (`slab`); these counts
divide it.

Allocations in bulk (kmem_cache_alloc_bulk, as of the cores' own stock of skb heads) have no
tracepoint, and are not seen. The tracepoints have these arguments since kernel 6.1.
"""

import ctypes
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from stackcost.collect.bpf import BpfObject
from stackcost.contracts.collector import Collector, Phase
from stackcost.contracts.metrics import SLAB_LEFT, SLAB_PASSED
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.host.symbols import UNNAMED, Names, kernel_names

UNFOLLOWED = Metric("slab.unfollowed", "1", Kind.COUNTER, SLAB_LEFT.source)
EVERY = 8
FRAMES = 32
MAX_OWNERS = 4096
MAX_OBJECTS = 65_536
RECLAIMABLE, ACCOUNT = 0x10, 0x400000  # include/linux/gfp_types.h


class OwnerKey(ctypes.Structure):
    """struct OwnerKey of slab_owners.bpf.c."""

    _fields_ = [
        ("cache", ctypes.c_char * 32),
        ("size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("stack", ctypes.c_int32),
    ]


class Counts(ctypes.Structure):
    """struct Counts of slab_owners.bpf.c."""

    _fields_ = [("allocated", ctypes.c_uint64), ("freed", ctypes.c_uint64)]


class SlabOwners(Collector):
    """Counts allocations on some CPUs while it follows them, by cache and stack."""

    name = "slab owners"
    metrics = (SLAB_LEFT, SLAB_PASSED, UNFOLLOWED)

    def __init__(self, cpus: Collection[int]):
        self._cpus = cpus
        self._programs: BpfObject | None = None
        self._follows = False
        self._kernel = Names([], [], [])

    def start(self) -> None:
        """Compile and load; nothing is traced yet. Its maps are taken here, before any flow."""
        self._programs = BpfObject(
            Path(__file__).with_name("slab_owners.bpf.c"),
            [
                f"CPUS={','.join(map(str, self._cpus))}",
                *(f"{name}={globals()[name]}" for name in ("EVERY", "MAX_OWNERS", "MAX_OBJECTS")),
                *(f"{name}={globals()[name]}" for name in ("RECLAIMABLE", "ACCOUNT")),
                f"STACK_FRAMES={FRAMES}",
            ],
        )
        self._kernel = kernel_names()

    def read(self) -> list[Sample]:
        """Nothing: what was followed is told when that ends."""
        return []

    def in_phase(self, phase: Phase, on: bool) -> list[Sample]:
        """Objects that are left, and that were freed again, since it began: the estimated number
        of all, which is EVERY times those that were followed.
        """
        programs = self._programs
        if phase != "held" or programs is None or on == self._follows:
            return []
        self._follows = on
        if on:
            self._forget(programs)
            programs.attach()
            return []
        programs.detach()
        left, passed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for key, counts in programs.take_hash("owners", OwnerKey, Counts, MAX_OWNERS):
            owner = _cache(key), self._stack(programs, key.stack)
            left[owner] += (counts.allocated - counts.freed) * EVERY
            passed[owner] += counts.freed * EVERY
        now = time.monotonic()
        missed = sum(programs.read_per_cpu("unfollowed", ctypes.c_uint64))
        return [
            UNFOLLOWED.sample(now, missed),
            *(
                metric.sample(now, count, cache=cache, stack=stack)
                for metric, found in ((SLAB_LEFT, left), (SLAB_PASSED, passed))
                for (cache, stack), count in found.items()
            ),
        ]

    def stop(self) -> None:
        """Detach and unload."""
        if self._programs:
            self._programs.close()
            self._programs = None

    def _forget(self, programs: BpfObject) -> None:
        """What an earlier trial left: its objects are of no flow of the next one."""
        programs.take_hash("objects", ctypes.c_uint64, OwnerKey, MAX_OBJECTS)

    def _stack(self, programs: BpfObject, number: int) -> str:
        """Functions from the outermost to the innermost."""
        addresses = programs.lookup("stacks", ctypes.c_uint32(number), ctypes.c_uint64 * FRAMES)
        names = [
            self._kernel.at(address - 1).partition(".")[0] or UNNAMED
            for address in filter(None, addresses)
        ]
        return ";".join(reversed(names)) or UNNAMED


def _cache(key: OwnerKey) -> str:
    """As in /proc/slabinfo. Of kmalloc by its flags (include/linux/slab.h, kmalloc_type)."""
    if not key.size:
        return str(key.cache.decode(errors="replace"))
    kind = "rcl-" if key.flags & RECLAIMABLE else "cg-" if key.flags & ACCOUNT else ""
    size = f"{key.size // 1024}k" if key.size >= 1024 else str(key.size)
    return f"kmalloc-{kind}{size}"
