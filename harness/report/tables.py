"""The answer's tables as text, drawn by the terminal and by the report alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.analysis.checks import ESTABLISHED
from harness.analysis.extrapolate import AtLineRate
from harness.analysis.spread import Spread
from harness.analysis.summary import Factor, Level, Memory, ServerResult, Summary
from harness.report.words import (
    UNKNOWN,
    WITHOUT_SENDING,
    factor,
    number,
    pair,
    share,
    size,
    with_range,
)


@dataclass(frozen=True, slots=True)
class TextTable:
    """A title, column names, and rows of as many cells."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


def load_table(summary: Summary) -> TextTable:
    """CPU per connection at every load, the generator's beside it and apart from it."""
    return TextTable(
        "CPU per completed connection, microseconds: median (min-max of the rounds)",
        ("server", "offered /s", "completed /s", "server's side", "by kind", "generator", "busy"),
        [
            (
                server.name,
                level.load,
                number(level.completed_cps.median),
                with_range(level.server_cpu_total),
                _server_kinds(level),
                _kinds(level.generator_cpu),
                share(level.generator_busy.median),
            )
            for server in summary.servers
            for level in server.levels
        ],
    )


def _server_kinds(level: Level) -> str:
    """By kind; of a polling peer also the kernel's work on its core, which is not in the total."""
    text = _kinds(level.server_cpu)
    beside = _kinds(level.beside_polling)
    return f"{text} (not in it: {beside})" if beside else text


def _kinds(costs: Mapping[str, Spread]) -> str:
    return ", ".join(f"{kind} {number(cost.median)}" for kind, cost in costs.items())


def breakdown_table(summary: Summary) -> TextTable:
    """What the time of the server's cores went to, finer than by kind."""
    return TextTable(
        "The server's cores in detail, microseconds per completed connection (median)",
        (
            "server",
            "offered /s",
            "softirq by vector",
            "threads",
            "cycles and instructions",
            "closes",
        ),
        [
            (
                server.name,
                level.load,
                _kinds(level.softirq),
                _kinds(level.threads),
                _kinds(level.hardware) if _known(level.hardware) else _reason(level.hardware),
                share(level.closure.median),
            )
            for server in summary.servers
            for level in server.levels
        ],
    )


def _known(costs: Mapping[str, Spread]) -> bool:
    return any(cost.median is not None for cost in costs.values())


def _reason(costs: Mapping[str, Spread]) -> str:
    return next((f"{UNKNOWN}: {cost.reason}" for cost in costs.values()), UNKNOWN)


def latency_table(summary: Summary) -> TextTable:
    """Times of connections from their intended start, by template group and kind."""
    shown = ("p50", "p90", "p99", "p99.9", "max")
    return TextTable(
        "Latency from the intended start, microseconds: median (min-max of the rounds)",
        ("server", "offered /s", "until", *shown),
        [
            (
                server.name,
                level.load,
                f"{group}: {kind}" if group else kind,
                *(with_range(percentiles[name]) for name in shown),
            )
            for server in summary.servers
            for level in server.levels
            for group, kinds in level.latency.items()
            for kind, percentiles in kinds.items()
        ],
    )


def memory_table(summary: Summary) -> TextTable:
    """Bytes per open flow by kind of memory, and what is there without any flow."""
    return TextTable(
        "Memory: bytes per open flow (slope; min-max of the rounds), and what no flow needs",
        ("server", "flows", "kind", "bytes per flow", "at no flow", "in the total"),
        [
            row
            for server in summary.servers
            for state, memory in _memories(server).items()
            for row in _memory_rows(server.name, state, memory)
        ],
    )


def _memories(server: ServerResult) -> dict[str, Memory]:
    """By the state of the flows that were held."""
    return ({ESTABLISHED: server.memory} if server.memory else {}) | server.states


def _memory_rows(server: str, state: str, memory: Memory) -> list[tuple[str, ...]]:
    rows = [
        (
            server,
            state,
            kind,
            with_range(slope),
            size(memory.at_no_flow[kind].median),
            "yes" if kind in memory.counted else "no",
        )
        for kind, slope in memory.per_flow.items()
    ]
    return [*rows, (server, state, "total", with_range(memory.total), "", "")]


def factor_table(summary: Summary) -> TextTable:
    """The cost factors with their spread."""
    return TextTable(
        "Cost factors",
        ("factor", "of", "at", "median, range of rounds, 95 % bootstrap interval"),
        [
            (name, pair(found.above, found.below), found.at, factor(ratio))
            for found in summary.factors
            for name, ratio in (
                (found.name, found.ratio),
                (f"{found.name}, {WITHOUT_SENDING}", found.without_sending),
            )
            if ratio is found.ratio or ratio.median is not None
        ],
    )


def cost_table(summary: Summary) -> TextTable:
    """What one connection costs on each server, and how many times that of the one below."""
    by_pair: dict[tuple[str, str], dict[str, Factor]] = {}
    for found in summary.factors:
        by_pair.setdefault((found.above, found.below), {})[found.name] = found
    rows: list[tuple[str, ...]] = [
        (
            above,
            f"{with_range(each['cpu'].above_cost)} at {each['cpu'].at}",
            factor(each["cpu"].ratio),
            with_range(each["memory"].above_cost),
            factor(each["memory"].ratio),
            _tuning_remark(summary, above),
        )
        for (above, _), each in by_pair.items()
    ]
    for below in dict.fromkeys(below for _, below in by_pair):
        each = next(each for (_, name), each in by_pair.items() if name == below)
        costs = with_range(each["cpu"].below_cost), with_range(each["memory"].below_cost)
        rows.append((below, f"{costs[0]} at {each['cpu'].at}", "1", costs[1], "1", ""))
    rows += [(name, UNKNOWN, "", UNKNOWN, "", why) for name, why in summary.not_measured.items()]
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
    text = f"{len(changes) - refused} settings in force" if changes else ""
    return f"{text}, {refused} not" if refused else text


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
    """What every tier wanted to change, what was there before, and what became of it."""
    return TextTable(
        "Tuning: what each tier changed",
        ("server", "setting", "of the", "before", "after", "source", "why not as wanted"),
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


def cache_table(summary: Summary) -> TextTable:
    """Which objects of the kernel an open flow holds."""
    return TextTable(
        "Kernel slab by cache, bytes per open flow",
        ("server", "flows", "cache", "bytes per flow"),
        [
            (server.name, state, cache, with_range(slope))
            for server in summary.servers
            for state, memory in _memories(server).items()
            for cache, slope in memory.caches.items()
            if abs(slope.median or 0) >= 1
        ],
    )


def check_table(summary: Summary) -> TextTable:
    """Every comparison that was made: in how many trials it held, and the worst that was seen."""
    rows: list[tuple[str, ...]] = []
    names = dict.fromkeys(check.name for trial in summary.trials for check in trial.checks)
    for server in summary.servers:
        for name in names:
            own = [
                check
                for trial in summary.trials
                if trial.server == server.name
                for check in trial.checks
                if check.name == name
            ]
            known = [check for check in own if check.holds is not None]
            worst = min(
                own, key=lambda check: (check.holds is None, bool(check.holds)), default=None
            )
            if worst:
                held = sum(bool(check.holds) for check in known)
                told = f"{held} of {len(known)}" if known else f"{UNKNOWN}: {worst.reason}"
                rows.append((server.name, name, told, worst.wanted, worst.seen))
    return TextTable(
        "Checks on the run's own data",
        ("server", "check", "holds in", "wanted", "seen (first, or first that failed)"),
        rows,
    )


def trial_table(summary: Summary) -> TextTable:
    """Every trial that was run, with its reasons for distrust."""
    return TextTable(
        "Every trial",
        ("no.", "round", "server", "what", "completed", "failed", "sent again", "us/conn", "flags"),
        [
            (
                str(trial.number),
                str(trial.round),
                trial.server,
                trial.test or f"{number(trial.offered_cps)}/s"
                if trial.part == "load"
                else f"{number(trial.open_flows)} open",
                number(trial.completed),
                number(trial.failed),
                number(trial.retransmitted),
                "" if trial.part == "memory" else number(trial.server_cpu_total),
                "; ".join(trial.flags),
            )
            for trial in summary.trials
        ],
    )


def definition_table(summaries: Sequence[Summary]) -> TextTable:
    """What every figure is and where it was read; one that all runs share stands there once."""
    rows = [
        (name, each.unit, each.definition, each.source)
        for summary in summaries
        for name, each in summary.definitions.items()
    ]
    return TextTable(
        "Definitions", ("figure", "unit", "definition", "read from"), list(dict.fromkeys(rows))
    )


def machine_table(machine: Mapping[str, Any]) -> TextTable:
    """The machine and its settings, without which no figure means anything."""
    return TextTable("Machine", ("what", "value"), [(k, str(v)) for k, v in machine.items()])
