"""The answer's tables as text, drawn by the terminal and by the report alike."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stackcost.analysis.extrapolate import AtLineRate
from stackcost.analysis.head import Head
from stackcost.analysis.spread import Spread, combined
from stackcost.analysis.summary import Factor, Level, Memory, Summary
from stackcost.contracts.latency import PERCENTILES, TAIL
from stackcost.report.text_table import TextTable
from stackcost.report.why import WHOSE
from stackcost.report.words import (
    UNKNOWN,
    LatencyUnit,
    factor,
    number,
    pair,
    range_or_reason,
    share,
    size,
    verdict_of,
    with_range,
)

HOUR = 3600  # microseconds per connection are seconds per million of them


def price_table(summary: Summary) -> TextTable:
    """A row for each system at the load at which its cost is quoted.

    Money only if the experiment gives the price of a core. Energy is of the whole machine.
    """
    price = summary.core_hour_price
    quoted = [(server.name, level) for server in summary.servers if (level := server.quoted)]
    return TextTable(
        "A million connections (HTTP clients: requests): median (min-max of the rounds)",
        ("system", "at", "core hours", "money", "energy of the machine"),
        [
            (
                name,
                level.load,
                with_range(_times(level.cost, 1 / HOUR)),
                UNKNOWN + ": core_hour_price is not in the experiment"
                if price is None
                else f"{with_range(_times(level.cost, price / HOUR))} at "
                f"{number(price)} per core hour",
                _energy(level),
            )
            for name, level in quoted
        ],
    )


def _times(cost: Spread, factor: float) -> Spread:
    return combined([(factor, cost)]) if cost.values else cost


def _energy(level: Level) -> str:
    if level["energy"].median is None:
        return f"{UNKNOWN}: {level['energy'].reason}"
    return f"{with_range(level['energy'])} J"


NAGLE = (
    "TCP uses the published settings: a peer's last, small segment may wait for a delayed ACK of "
    "100 ms (Nagle), which is not the stack's own time"
)

# Whose time, and its figures. That of the idle task is in no total.
PARTS = (
    ("server", "server_cpu"),
    ("kernel beside the peer", "peer_kernel_cpu"),
    ("idle task, in no total", "idle_task"),
    ("softirq vector", "softirq"),
    ("thread on its cores", "threads"),
    ("generator", "generator_cpu"),
)
SHARES = ("opened", "late", "busy")  # of each of several generators


def load_table(summary: Summary) -> TextTable:
    """CPU per connection at every load, and the share of its time that the generator worked."""
    return TextTable(
        "CPU per completed connection, microseconds: median (min-max of the rounds)",
        ("server", "offered /s", "completed /s", "server's side", "generator busy"),
        [
            (
                server.name,
                f"{level.load}, {level.not_held}" if level.not_held else level.load,
                number(level["completed_cps"].median),
                with_range(level.cost),
                share(level["generator_busy"].median),
            )
            for server, level in summary.loads
        ],
    )


def generator_table(summary: Summary) -> TextTable:
    """The part of each of several generators in every load; empty where a single one made it."""
    return TextTable(
        "Generators: their parts of each load, and how they kept up (median)",
        ("server", "offered /s", "generator", "part", "opened", "late", "busy", "started after s"),
        [
            (
                server.name,
                level.load,
                name,
                share(generator.part),
                *(share(level[f"generators.{each}.{name}"].median) for each in SHARES),
                number(level[f"generators.started.{name}"].median),
            )
            for server, level in summary.loads
            for name, generator in level.generators.items()
        ],
        named=3,
    )


def breakdown_table(summary: Summary) -> TextTable:
    """What each load's time is made of, a row for each part."""
    return TextTable(
        f"Parts of the time, us per completed connection (median); the server's is {WHOSE}. "
        "Softirq vectors and threads explain it again",
        ("server", "offered /s", "of", "part", "us"),
        [
            (server.name, level.load, whose, part, number(cost.median))
            for server, level in summary.loads
            for whose, group in PARTS
            for part, cost in level.kinds(group).items()
            if cost.median
        ],
        named=4,
    )


def hardware_table(summary: Summary) -> TextTable:
    """Cycles and instructions; a sentence says why there are none."""
    every = [
        (server.name, level.load, what, cost)
        for server, level in summary.loads
        for what, cost in level.kinds("hardware").items()
    ]
    return TextTable(
        "Cycles and instructions per completed connection (median)",
        ("server", "offered /s", "of", "number"),
        [(*named, number(cost.median)) for *named, cost in every],
        named=3,
        reason=next((cost.reason for *_, cost in every if cost.reason), ""),
    )


def latency_table(summary: Summary) -> TextTable:
    """Times of connections from their intended start, by template group and kind."""
    unit = LatencyUnit(_percentiles(summary))
    return TextTable(
        f"Latency from the intended start, {unit.unit}: median (min-max of the rounds)"
        + _tail_words(summary)
        + (f"; {NAGLE}" if summary.tcp == "published" and not summary.has_tests else ""),
        ("server", "offered /s", "until", "timed", *PERCENTILES),
        [
            (
                server.name,
                level.load,
                f"{group}: {kind}" if group else kind,
                timed_of(level, group, kind),
                *(
                    unit.with_range(percentiles[name]) if name in percentiles else UNKNOWN
                    for name in PERCENTILES
                ),
            )
            for server, level in summary.loads
            for group, kinds in level.latency.items()
            for kind, percentiles in kinds.items()
        ],
        named=3,
        reason=next((each.reason for each in _percentiles(summary) if each.reason), ""),
    )


def _tail_words(summary: Summary) -> str:
    """Why percentiles of the tail are missing, if any row lacks them."""
    missing = {
        name: spread.reason
        for _, level in summary.loads
        for kinds in level.latency.values()
        for percentiles in kinds.values()
        if percentiles["max"].median is not None
        for name in TAIL
        if (spread := percentiles.get(name)) and spread.median is None
    }
    return "".join(f"; {name} is missing in some rows: {why}" for name, why in missing.items())


def timed_of(level: Level, group: str, kind: str) -> str:
    """How many connections are in the percentiles, of how many: "379 of 500"."""
    number_of = level.timed.get(group, {}).get(kind)
    if number_of is None:
        return UNKNOWN
    whole = level.attempted if len(level.latency) == 1 else None
    # Those of the window's edges began before it or end after it.
    return f"{number_of:,}" + (f" of {max(whole, number_of):,}" if whole else "")


def _percentiles(summary: Summary) -> Iterator[Spread]:
    for _, level in summary.loads:
        for kinds in level.latency.values():
            for percentiles in kinds.values():
                yield from percentiles.values()


def cost_table(summary: Summary) -> TextTable:
    """The cost of one connection on each server, and its factor to the cost of the other server."""
    by_pair: dict[tuple[str, str], dict[str, Factor]] = {}
    for found in summary.factors:
        by_pair.setdefault((found.baseline, found.against), {})[found.name] = found
    rows: list[tuple[str, ...]] = [
        (
            above,
            f"{with_range(each['cpu'].baseline_cost)} at {each['cpu'].at}",
            factor(each["cpu"].ratio),
            with_range(each["memory"].baseline_cost),
            factor(each["memory"].ratio),
            _tuning_remark(summary, above),
        )
        for (above, _), each in by_pair.items()
    ]
    for below in dict.fromkeys(below for _, below in by_pair):
        each = next(each for (_, name), each in by_pair.items() if name == below)
        costs = with_range(each["cpu"].against_cost), with_range(each["memory"].against_cost)
        rows.append((below, f"{costs[0]} at {each['cpu'].at}", "1", costs[1], "1", ""))
    rows += [(each.name, UNKNOWN, "", UNKNOWN, "", each.why) for each in summary.not_measured]
    against = ", ".join(dict.fromkeys(below for _, below in by_pair))
    return TextTable(
        "Cost of one connection: median (min-max of the rounds)",
        (
            "system",
            "CPU, us",
            f"times {against}",
            "memory, bytes per open flow",
            f"times {against}",
            "tuning",
        ),
        rows,
    )


def _tuning_remark(summary: Summary, server: str) -> str:
    changes = summary.tuning.get(server, [])
    refused = sum(bool(change.reason) for change in changes)
    text = f"{len(changes) - refused} settings active" if changes else ""
    return f"{text}, {refused} not active" if refused else text


def factor_table(summary: Summary) -> TextTable:
    """The cost factors with their spread."""
    return TextTable(
        "Cost factors",
        ("factor", "of", "at", "us or bytes", "ratio, interval, range of rounds", "verdict"),
        [
            (
                found.name,
                pair(found.baseline, found.against),
                found.at,
                f"{number(found.baseline_cost.median)} / {number(found.against_cost.median)}",
                factor(found.ratio),
                verdict_of(found.comparison),
            )
            for found in summary.factors
        ],
    )


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


def tuning_table(summary: Summary) -> TextTable:
    """The settings of every tier: the wanted value, the old value, and the result."""
    return TextTable(
        "Tuning: what each tier changed",
        ("server", "setting", "scope", "before", "after", "source", "why not set"),
        [
            (
                server,
                change.setting,
                change.where,
                change.before or "",
                change.after or UNKNOWN,
                change.source,
                f"wanted {change.wanted}: {change.reason}" if change.reason else "",
            )
            for server, changes in summary.tuning.items()
            for change in changes
        ],
    )


def machine_table(machine: Mapping[str, Any]) -> TextTable:
    """The machine and its settings, which are needed to interpret the figures."""
    return TextTable("Machine", ("property", "value"), [(k, str(v)) for k, v in machine.items()])


def definition_table(summaries: Sequence[Head]) -> TextTable:
    """The definition and source of every figure; a definition that runs share is listed once."""
    rows = [
        (name, each.unit, each.definition, each.source)
        for summary in summaries
        for name, each in summary.definitions.items()
    ]
    return TextTable(
        "Definitions", ("figure", "unit", "definition", "read from"), list(dict.fromkeys(rows))
    )
