"""What the index has of a run: a row that describes it, and a row for each of its main figures."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from stackcost.analysis.figures.registry import JUDGED
from stackcost.analysis.spread import Spread
from stackcost.analysis.system_figures import in_state, in_test
from stackcost.contracts.errors import StackcostError
from stackcost.host.files import read_whole
from stackcost.report.basis import basis_of
from stackcost.store import Manifest, RunFolder
from stackcost.store.folder import SUMMARY

Row: TypeAlias = dict[str, Any]
TEXTS = ("state", "started", "title", "machine", "answer")
MACHINE_DIGITS = 8


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


class _Answer(BaseModel):
    """The parts of a stored answer, of whatever kind, that the index has."""

    basis: str = ""
    servers: list[_Server] = []
    ceilings: list[_Ceiling] | dict[str, float] = []  # a dict: those that shares of load are of


def rows_of(folder: Path, name: str, files: str, program: bytes) -> tuple[Row, list[Row]]:
    """The rows of a run. `name`: of its folder, as text. `files`: the state of its files, as it was
    before this reads them. `program`: as of `basis_of`.
    """
    run = RunFolder(folder)
    row: Row = dict.fromkeys(TEXTS, "") | {"run": name, "files": files, "trials": None}
    try:
        manifest = run.manifest()
        trials = run.count()
    except StackcostError as error:
        return row | {"state": f"unreadable: {error.what}"}, []
    answer = _answer_of(run)
    row |= {
        "state": manifest.state,
        "started": manifest.started,
        "trials": trials,
        "title": str(manifest.experiment.get("title", "")),
        "machine": _machine(manifest),
    }
    if answer is None:
        return row, []
    row["answer"] = "current" if answer.basis == basis_of(run, program) else "older"
    return row, [{"run": name} | each for each in _figures(answer) if each["values"]]


def _answer_of(run: RunFolder) -> _Answer | None:
    try:
        return _Answer.model_validate_json(read_whole(run.path / SUMMARY))
    except (OSError, ValidationError):
        return None


def _figures(answer: _Answer) -> Iterator[Row]:
    for server in answer.servers:
        for level in server.levels:
            for name, spread in _judged(level):
                yield _row(server.name, in_test(level.test, name), level.offered_cps, spread)
        for state, memory in server.memories.items():
            for name, spread in _judged(memory):
                yield _row(server.name, in_state(state, name), None, spread)
    found: dict[tuple[str, str, str], list[float]] = {}
    searches = answer.ceilings if isinstance(answer.ceilings, list) else []
    for each in searches:
        for goal in each.rates if each.complete else ():
            values = found.setdefault((each.server, f"{goal.name}, {each.of}", each.unit), [])
            values += [] if goal.value is None else [goal.value]
    for (system, name, unit), values in found.items():
        yield _row(system, name, None, Spread(unit=unit, values=values))


def _judged(found: _Figures) -> list[tuple[str, Spread]]:
    return [(name, spread) for name, spread in found.figures.items() if name in JUDGED]


def _row(system: str, figure: str, at: float | None, spread: Spread) -> Row:
    return {
        "system": system,
        "figure": figure,
        "unit": spread.unit,
        "at": at,
        "values": spread.values,
    }


def _machine(manifest: Manifest) -> str:
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
