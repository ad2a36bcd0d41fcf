"""What a network with loss, delay or a low rate costs each system: beside the best one of its run.

Only runs whose matrix varies the network have rows. Systems differ in nothing else there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from stackcost.analysis.comparing.comparison import Comparison
from stackcost.analysis.summary import Level, ServerResult, Summary
from stackcost.contracts.system import NETWORK, label
from stackcost.report.paired import compare_paired
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, change_of, number, with_range

MILLISECONDS = 1e-3  # in a microsecond


@dataclass(frozen=True, slots=True)
class Condition:
    """One system over one network, at the load that its cost is quoted at.

    `network`: the settings that vary, by name. `compared`: the CPU cost of a connection against
    that of the same system over its best network, paired by round; None of the best itself, and
    where one of them was not measured at this load.
    """

    system: str
    network: dict[str, float]
    level: Level
    compared: Comparison | None


def conditions_of(summary: Summary) -> list[Condition]:
    """Every system over every network, the best network of each first; empty where none varies."""
    found = []
    for system, servers in _by_system(summary).items():
        best, *others = servers
        level = best.quoted
        if level is None:
            continue
        found.append(Condition(system, best.network, level, None))
        known = [(other, each) for other in others if (each := _at(other, level))]
        sides = ((level.cost, each.cost) for _, each in known)
        found += [
            Condition(system, other.network, each, compared)
            for (other, each), compared in zip(known, compare_paired(sides), strict=True)
        ]
    return found


def _by_system(summary: Summary) -> dict[str, list[ServerResult]]:
    found: dict[str, list[ServerResult]] = {}
    for server in summary.servers:
        if server.network:
            found.setdefault(server.without_network().name, []).append(server)
    return {
        system: sorted(servers, key=lambda server: tuple(_badness(server)))
        for system, servers in found.items()
    }


def _badness(server: ServerResult) -> Iterator[float]:
    """More of each setting is worse, but for the rate."""
    for setting, value in server.network.items():
        yield -value if setting == "rate_mbit" else value


def _at(server: ServerResult, wanted: Level) -> Level | None:
    """Its level at the same load, held or not: past its ceiling a lossy network is a result."""
    return next((level for level in server.levels if level.load == wanted.load), None)


def varies_network(summary: Summary) -> bool:
    """Whether the matrix of this run has several networks."""
    return bool(conditions_of(summary))


def network_answer(summary: Summary) -> str:
    """Of each system: what the worst network adds to a connection's CPU time, and to its p99."""
    found = conditions_of(summary)
    said = []
    for system in dict.fromkeys(each.system for each in found):
        best, *others = [each for each in found if each.system == system]
        if not others:
            continue
        worst = others[-1]
        said.append(
            f"{system} takes {_cpu(worst)} us of CPU for a connection over {_words(worst)} and "
            f"{_cpu(best)} us over {_words(best)}; the 99th percentile of completion is "
            f"{_percentile(worst.level, 'p99')} and {_percentile(best.level, 'p99')} ms."
        )
    return f"**{' '.join(said)}**" if said else ""


def network_table(summary: Summary) -> TextTable:
    """Every system over every network, the best one of each first."""
    return TextTable(
        "A connection over each network: median (min-max of the rounds). Sent again: segments per "
        "connection",
        (
            "system",
            "network",
            "load /s",
            "done /s",
            "CPU, us",
            "more than over the best",
            "server sent again",
            "p50, ms",
            "p99, ms",
        ),
        [_row(each) for each in conditions_of(summary)],
    )


def _row(each: Condition) -> tuple[str, ...]:
    level = each.level
    return (
        each.system,
        _words(each),
        number(level.offered_cps) + (", not all passed" if level.not_held else ""),
        number(level["completed_cps"].median),
        with_range(level.cost),
        change_of(each.compared) if each.compared else "",
        with_range(level.figures.get("sent_again.server")),
        _percentile(level, "p50"),
        _percentile(level, "p99"),
    )


def _words(each: Condition) -> str:
    return ", ".join(label(f"{NETWORK}{name}", value) for name, value in each.network.items())


def _cpu(each: Condition) -> str:
    return number(each.level.cost.median)


def _percentile(level: Level, name: str) -> str:
    told = level.latency.get("", {}).get("completion", {}).get(name)
    return number(told.median * MILLISECONDS) if told and told.median is not None else UNKNOWN
