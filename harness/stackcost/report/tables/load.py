"""The cost, the price and the duration of a connection at every load."""

from collections.abc import Iterator

from stackcost.analysis.spread import Spread, combined
from stackcost.analysis.summary import Level, Summary
from stackcost.contracts.latency import PERCENTILES, TAIL
from stackcost.report.tables.latency_unit import LatencyUnit
from stackcost.report.text_table import TextTable
from stackcost.report.why import WHOSE
from stackcost.report.words import UNKNOWN, number, share, with_range

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
                else f"{with_range(_times(level['server_cpu_total'], price / HOUR))} at "
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
            for server in summary.servers
            for level in server.levels
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
            for server in summary.servers
            for level in server.levels
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
            for server in summary.servers
            for level in server.levels
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
        for server in summary.servers
        for level in server.levels
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
            for server in summary.servers
            for level in server.levels
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
        for server in summary.servers
        for level in server.levels
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
    for server in summary.servers:
        for level in server.levels:
            for kinds in level.latency.values():
                for percentiles in kinds.values():
                    yield from percentiles.values()
