"""The memory cost of an open flow."""

from collections.abc import Sequence

from stackcost.analysis.extrapolate import AtLineRate
from stackcost.analysis.summary import Memory, Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import number, range_or_reason, size, with_range

OF_SYSTEM = ("process", "backend process", "engine pools", "engine reserved")


def memory_table(summary: Summary) -> TextTable:
    """Bytes per open flow by kind of memory, and memory without any flow.

    The latter is shown for the system's own memory alone: the kernel's is of the whole machine.
    """
    return TextTable(
        "Memory: bytes per open flow (slope; min-max of the rounds), and memory without flows",
        ("server", "flows", "kind", "bytes per flow", "with no flow", "in the total"),
        [
            row
            for server in summary.servers
            for state, memory in server.memories.items()
            for row in _memory_rows(server.name, state, memory)
        ],
    )


def _memory_rows(server: str, state: str, memory: Memory) -> list[tuple[str, ...]]:
    rows = [
        (
            server,
            state,
            kind,
            with_range(slope),
            size(memory.kinds("memory.at_no_flow")[kind].median) if kind in OF_SYSTEM else "",
            "yes" if kind in memory.counted else "no",
        )
        for kind, slope in memory.kinds("memory.per_flow").items()
    ]
    return [*rows, (server, state, "total", range_or_reason(memory["memory.total"]), "", "")]


def cache_table(summary: Summary) -> TextTable:
    """The kernel objects that an open flow uses."""
    return TextTable(
        "Kernel slab by cache, bytes per open flow",
        ("server", "flows", "cache", "bytes per flow", "in the total"),
        [
            (
                server.name,
                state,
                cache,
                with_range(slope),
                "yes" if cache in memory.counted_caches else "no",
            )
            for server in summary.servers
            for state, memory in server.memories.items()
            for cache, slope in memory.kinds("memory.caches").items()
            if abs(slope.median or 0) >= 1
        ],
    )


def owner_table(summary: Summary) -> TextTable:
    """Which functions the slab memory of a flow belongs to."""
    return TextTable(
        "Slab memory with its owners: bytes per open flow, by the function that allocated them",
        ("server", "flows", "cache", "allocated by", "bytes per flow", "freed again, per flow"),
        [
            row
            for server in summary.servers
            for state, memory in server.memories.items()
            for row in _owner_rows(server.name, state, memory)
        ],
        named=4,
    )


def _owner_rows(server: str, state: str, memory: Memory) -> list[tuple[str, ...]]:
    """The largest first; a function whose objects were all freed again takes no bytes."""
    left, passed = memory.kinds("memory.owners"), memory.kinds("memory.passed")
    ordered = sorted(left, key=lambda name: -(left[name].median or 0.0))
    return [
        (
            server,
            state,
            *(name.split(": ", 1) if ": " in name else (name, left[name].reason)),
            with_range(left[name]),
            with_range(passed[name]) if name in passed else "",
        )
        for name in ordered
        if abs(left[name].median or 1.0) >= 1
    ]


def line_rate_table(lines: Sequence[AtLineRate]) -> TextTable:
    """Memory at a line rate: flows x slope."""
    return TextTable(
        "Extrapolated to 100 Gb/s of payload",
        ("server", "flows", "connections/s", "flows at once", "bytes per flow", "memory"),
        [
            (
                line.server,
                line.state,
                number(line.connections_per_s),
                number(line.flows),
                number(line.bytes_per_flow),
                size(line.total_bytes),
            )
            for line in lines
        ],
    )
