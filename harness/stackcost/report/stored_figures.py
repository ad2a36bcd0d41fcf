"""The main figures of many stored answers, read without computing or checking the rest of them."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from stackcost.analysis.figures.registry import JUDGED
from stackcost.analysis.spread import Spread
from stackcost.analysis.system_figures import in_state, in_test
from stackcost.host.files import read_whole
from stackcost.store import Manifest, RunFolder
from stackcost.store.folder import SUMMARY

MACHINE_DIGITS = 8


class StoredFigure(NamedTuple):
    """One figure of a stored answer. `at`: connections/s; None for a figure without a load."""

    system: str
    name: str
    at: float | None
    spread: Spread


class _Figures(BaseModel):
    figures: dict[str, Spread]


class _Level(_Figures):
    offered_cps: float
    test: str = ""


class _Server(BaseModel):
    name: str
    levels: list[_Level]
    memories: dict[str, _Figures] = {}


class _Rate(BaseModel):
    name: str
    value: float | None


class _Ceiling(BaseModel):
    server: str
    of: str
    unit: str
    complete: bool
    rates: list[_Rate]


class StoredAnswer(BaseModel):
    """The parts of a stored answer of any kind that have its main figures, and its basis."""

    basis: str = ""
    servers: list[_Server] = []
    ceilings: list[_Ceiling] | dict[str, float] = []  # a dict: those that shares of load are of


def answer_of(run: RunFolder) -> StoredAnswer | None:
    """The stored answer of a run; None if there is none that can be read."""
    try:
        return StoredAnswer.model_validate_json(read_whole(run.path / SUMMARY))
    except (OSError, ValidationError):
        return None


def figures_of(answer: StoredAnswer) -> Iterator[StoredFigure]:
    """The judged figures at each load and in each state, and the ceilings, where measured."""
    for server in answer.servers:
        for level in server.levels:
            for name, spread in _judged(level):
                yield StoredFigure(
                    server.name, in_test(level.test, name), level.offered_cps, spread
                )
        for state, memory in server.memories.items():
            for name, spread in _judged(memory):
                yield StoredFigure(server.name, in_state(state, name), None, spread)
    found: dict[tuple[str, str, str], list[float]] = {}
    searches = answer.ceilings if isinstance(answer.ceilings, list) else []
    for each in searches:
        for goal in each.rates if each.complete else ():
            values = found.setdefault((each.server, f"{goal.name}, {each.of}", each.unit), [])
            values += [] if goal.value is None else [goal.value]
    for (system, name, unit), values in found.items():
        yield StoredFigure(system, name, None, Spread(unit=unit, values=values))


def _judged(found: _Figures) -> list[tuple[str, Spread]]:
    return [(name, spread) for name, spread in found.figures.items() if name in JUDGED]


def machine_of(manifest: Manifest) -> str:
    """A short key of the processors of the machine, and of the other hosts of its test bed."""
    machines: list[Any] = [manifest.machine]
    for bed in manifest.test_bed.values():
        hosts = bed.get("hosts") if isinstance(bed, Mapping) else None
        machines += hosts.values() if isinstance(hosts, Mapping) else []
    known = sorted(set(map(_processors, machines)))
    return sha256("\n".join(known).encode()).hexdigest()[:MACHINE_DIGITS]


def _processors(described: Any) -> str:
    """What of them no update changes."""
    try:
        found = described.get("machine", described)["processors"]
        return f"{found['model']} {found['architecture']} {len(found['online'])}"
    except (AttributeError, KeyError, TypeError):
        return "unknown"
