"""Every figure of a summary as one flat list, for comparison and export.

A figure is found by its type, `Spread`, anywhere in the summary. So new figures of a summary are
compared and exported automatically.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Definition, Summary


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one server. `name` as in the summary, "server_cpu.softirq"; of HTTP clients
    with the test before it, "rps-1k: http.rate".

    `at`: the offered load in connections/s; None for memory, which is a slope over loads.
    """

    server: str
    name: str
    at: float | None
    spread: Spread


def figures(summary: Summary) -> list[Figure]:
    """All figures of all servers, in the order of the summary."""
    found = []
    for server in summary.servers:
        for level in server.levels:
            at = level.offered_cps
            of = f"{level.test}: " if level.test else ""
            found += [Figure(server.name, of + name, at, s) for name, s in _spreads(level, "")]
        if server.memory:
            spreads = _spreads(server.memory, "memory")
            found += [Figure(server.name, name, None, s) for name, s in spreads]
    return found


def definition(name: str, definitions: Mapping[str, Definition]) -> Definition | None:
    """What a figure is: the definition of its name, or of the longest beginning of it."""
    parts = name.rpartition(": ")[2].split(".")
    for length in range(len(parts), 0, -1):
        if found := definitions.get(".".join(parts[:length])):
            return found
    return None


def _spreads(node: Any, name: str) -> Iterator[tuple[str, Spread]]:
    if isinstance(node, Spread):
        yield name, node
    elif isinstance(node, BaseModel):
        yield from _spreads(dict(node), name)
    elif isinstance(node, Mapping):
        for key, below in node.items():
            yield from _spreads(below, f"{name}.{key}" if name and key else name or key)
