"""Every figure of a summary as one flat list, for comparison and export."""

from collections.abc import Mapping
from dataclasses import dataclass

from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Definition, Summary
from stackcost.contracts.load import ESTABLISHED


@dataclass(frozen=True, slots=True)
class SystemFigure:
    """One figure of one system. `name` as in the summary, "server_cpu.softirq"; of HTTP clients
    with the test before it, "rps-1k: http.rate", and of flows that were held in another state than
    established with that, "time-wait: memory.total".

    `at`: the offered load in connections/s; None for memory, which is a slope over loads.
    """

    system: str
    name: str
    at: float | None
    spread: Spread


def system_figures(summary: Summary) -> list[SystemFigure]:
    """All figures of all systems, in the order of the summary."""
    found = []
    for server in summary.servers:
        for level in server.levels:
            found += [
                SystemFigure(server.name, in_test(level.test, name), level.offered_cps, spread)
                for name, spread in level.figures.items()
            ]
        for state, memory in server.memories.items():
            found += [
                SystemFigure(server.name, in_state(state, name), None, spread)
                for name, spread in memory.figures.items()
            ]
    return found


def in_test(test: str, name: str) -> str:
    """A figure's name with the test of HTTP clients that it is of; other loads have none."""
    return f"{test}: {name}" if test else name


def in_state(state: str, name: str) -> str:
    """A figure's name with the state in which flows were held, unless they were established."""
    return name if state == ESTABLISHED else f"{state}: {name}"


def definition(name: str, definitions: Mapping[str, Definition]) -> Definition | None:
    """What a figure is: the definition of its name, or of the longest beginning of it."""
    parts = name.rpartition(": ")[2].split(".")
    for length in range(len(parts), 0, -1):
        if found := definitions.get(".".join(parts[:length])):
            return found
    return None
