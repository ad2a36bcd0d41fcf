"""Figures of counted runs: instructions per connection, which no clock and no neighbour changes.

Their names differ from those of timed figures, and neither is computed from the other.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.readings import Readings
from stackcost.analysis.why.function_table import table
from stackcost.contracts.metrics import COUNT_INSTRUCTIONS, COUNT_STRING_BYTES, COUNT_SYSTEM_CALLS
from stackcost.contracts.sample import Metric

USER = "user mode"
STACK_LIBRARIES = {"libonload.so": "Onload's library (user mode)"}
LEAST = 0.002  # share of a function that is told by itself
SMALL = "others"  # all functions below it
Labels = tuple[str, str, str, str]  # side, task, mode, function
SOURCE = (
    "executions of translated blocks in an emulated guest (QEMU's TCG, a plugin), by the task that "
    "the guest's kernel had switched to"
)


def is_counted(loads: LoadTrials) -> bool:
    """Whether any trial has counts."""
    return any(readings.series(COUNT_INSTRUCTIONS) for readings in loads.trials)


def _each(
    readings: Readings, label: str, metric: Metric = COUNT_INSTRUCTIONS, **wanted: str
) -> dict[str, float]:
    completed = readings.trial.traffic.completed
    if not completed:
        return {}
    found = readings.by_label(metric, label, **wanted)
    return {name: value / completed for name, value in found.items()}


def by_category(readings: Readings) -> dict[str, float]:
    """Instructions of the server's side per completed connection, by what its functions do."""
    found: dict[str, float] = defaultdict(float)
    for mode in ("kernel", "user"):
        for function, count in _each(readings, "function", side="server", mode=mode).items():
            found[_category(mode, function)] += count
    return {USER: 0.0} | found


def total(readings: Readings) -> float | None:
    """Instructions of the server's side per completed connection; None without a connection."""
    return sum(_each(readings, "mode", side="server").values()) or None


def by_function(readings: Readings) -> dict[str, float]:
    """Instructions by function; those of little weight are one."""
    every = _each(readings, "function", side="server")
    least = LEAST * sum(every.values())
    found = {name: count for name, count in every.items() if count >= least}
    return found | {SMALL: sum(every.values()) - sum(found.values())}


def system_calls(readings: Readings) -> dict[str, float]:
    """System calls of the server's side per completed connection, by name."""
    return _each(readings, "call", COUNT_SYSTEM_CALLS)


class Counted(NamedTuple):
    """Of a completed connection. `task`, `mode`, `function`: whose instructions; the function of
    the server's alone. `category`: what the function does.
    """

    side: str
    task: str
    mode: str
    function: str
    category: str
    instructions: float
    string_bytes: float


def counts(readings: Readings) -> list[Counted]:
    """All counts of a trial, the largest first; none if it was timed, or completed none."""
    completed, window = readings.trial.traffic.completed, readings.phases.get("sustain")
    if not completed or window is None:
        return []
    executed, moved = (
        _by_labels(readings, metric, completed)
        for metric in (COUNT_INSTRUCTIONS, COUNT_STRING_BYTES)
    )
    rows = [
        Counted(*key, _category(*key[2:]), executed.get(key, 0.0), moved.get(key, 0.0))
        for key in executed | moved
    ]
    return sorted(rows, key=lambda row: -row.instructions)


def _by_labels(readings: Readings, metric: Metric, completed: int) -> dict[Labels, float]:
    found: dict[Labels, float] = {}
    for labels in (series[0].labels for series in readings.series(metric)):
        key = labels["side"], labels["task"], labels["mode"], labels["function"]
        found[key] = found.get(key, 0.0) + (readings.growth(metric, **labels) or 0.0) / completed
    return found


def _category(mode: str, function: str) -> str:
    if mode == "user":
        return STACK_LIBRARIES.get(function, USER)
    return table().alone(function) if function else ""


def _of(read: Callable[[Readings], dict[str, float]]) -> Callable[[LoadTrials], dict[str, Values]]:
    """One value of each trial by kind; what was not executed in one counts 0 there."""

    def compute(loads: LoadTrials) -> dict[str, Values]:
        if not is_counted(loads):
            return {}
        found = [read(readings) for readings in loads.trials]
        names = dict.fromkeys(name for each in found for name in each)
        return {
            name: Values([each.get(name, 0.0) if each else None for each in found], loads.rounds)
            for name in names
        }

    return compute


def _total(loads: LoadTrials) -> Values | None:
    if not is_counted(loads):
        return None
    return loads.each(total)


TOTAL = Figure[LoadTrials](
    name="instructions",
    unit="1",
    definition="instructions of the server's side per completed connection: its tasks in user and "
    "kernel mode, and the thread that polls its interface; a string instruction that repeats "
    "counts once",
    source=SOURCE,
    of="load",
    judged=True,
    compute=_total,
)
MODES = Figure[LoadTrials](
    name="instructions_by_mode",
    unit="1",
    table="costs",
    definition="instructions by mode: user, kernel",
    source=SOURCE,
    of="load",
    compute=_of(lambda readings: _each(readings, "mode", side="server")),
)
TASKS = Figure[LoadTrials](
    name="instructions_by_task",
    unit="1",
    table="costs",
    definition="instructions by task",
    source=SOURCE,
    of="load",
    compute=_of(lambda readings: _each(readings, "task", side="server")),
)
STRING_BYTES = Figure[LoadTrials](
    name="string_bytes",
    unit="B",
    table="costs",
    definition="bytes that the server's side moved or cleared by string instructions that repeat, "
    "per completed connection",
    source=SOURCE,
    of="load",
    compute=_of(lambda readings: _each(readings, "mode", COUNT_STRING_BYTES, side="server")),
)
CATEGORIES = Figure[LoadTrials](
    name="instructions_by_category",
    unit="1",
    table="why",
    definition="instructions by what the functions do "
    "(harness/stackcost/analysis/why/functions.yaml)",
    source=SOURCE,
    of="load",
    compute=_of(by_category),
)
FUNCTIONS = Figure[LoadTrials](
    name="instructions_by_function",
    unit="1",
    table="why",
    definition="instructions by function of the kernel, in user mode by file; those below 0.2 % "
    "together",
    source=SOURCE,
    of="load",
    compute=_of(by_function),
)
SYSTEM_CALLS = Figure[LoadTrials](
    name="system_calls",
    unit="1",
    table="why",
    definition="system calls of the server's side per completed connection, by name, counted by "
    "the kernel's functions __x64_sys_*",
    source=SOURCE,
    of="load",
    compute=_of(system_calls),
)
OTHERS = Figure[LoadTrials](
    name="other_instructions",
    unit="1",
    table="costs",
    definition="instructions per completed connection that are not the server's, by task: the "
    "generator, its interface's receive work, other threads of the kernel, and the idle task",
    source=SOURCE,
    of="load",
    compute=_of(lambda readings: _each(readings, "task", side="other")),
)
ALL = (TOTAL, MODES, TASKS, STRING_BYTES, CATEGORIES, FUNCTIONS, SYSTEM_CALLS, OTHERS)
