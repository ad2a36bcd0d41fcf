"""The counts of one window as the plugin writes them, by task, section and function."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import COUNT_INSTRUCTIONS, COUNT_STRING_BYTES, COUNT_SYSTEM_CALLS
from stackcost.contracts.sample import Metric, Sample
from stackcost.contracts.window import Window
from stackcost.counting.symbols import KERNEL_FROM, Symbols

# What the kernel does for the server while any task runs: it frees the files and sockets of its
# connections, and Onload's modules hand work to the kernel's workers.
RCU_CALLBACKS, ONLOAD_WORK = "RCU-callbacks", "Onload-work"
SYSTEM_CALL = "__x64_sys_"  # what the kernel's function of each begins with


class Where(NamedTuple):
    """Whose instructions: the name of a task, a section of the kernel's work that interrupted it
    (empty: none), the mode ("user", "kernel"), and the function.
    """

    task: str
    section: str
    mode: str
    function: str


class Count(NamedTuple):
    """`instructions`: a string instruction that repeats counts once; `string_bytes`: what those
    moved. `calls`: of a function of the kernel.
    """

    instructions: int
    string_bytes: int
    calls: int = 0


def read_counts(path: Path, symbols: Symbols) -> dict[Where, Count]:
    """All counts of a window. StackcostError if the file is not whole."""
    names: list[tuple[str, str]] = []
    found: dict[Where, list[int]] = defaultdict(lambda: [0, 0, 0])
    functions: dict[tuple[int, int], str] = {}
    try:
        for line in path.read_text().splitlines():
            word, *rest = line.split(" ", 1)
            if word == "task":
                task, _, section = rest[0].partition("|")
                names.append((task, section))
            elif word != "switches":
                address, physical, length, repeated, slot, count = line.split()
                task, section = names[int(slot)]
                place, times = int(address, 16), int(count)
                mode = "kernel" if place >= KERNEL_FROM else "user"
                key = (place, int(physical, 16))
                if key not in functions:
                    functions[key] = symbols.function(*key)
                counted = found[Where(task, section, mode, functions[key])]
                if int(repeated):
                    counted[1] += int(repeated) * times
                else:
                    counted[0] += int(length) * times
                    counted[2] += times if symbols.begins(place) else 0
    except (OSError, ValueError, IndexError) as error:
        raise StackcostError(f"the counts of the guest cannot be read: {error}") from error
    return {where: Count(*counted) for where, counted in found.items()}


def samples_of(
    counts: dict[Where, Count], server: Collection[str], window: Window
) -> Iterable[Sample]:
    """Samples at both edges of a window.

    `server`: names of the server's tasks, which are told by function, as what is handed over for
    them is, and by system call; the others by task.
    """
    merged: dict[tuple[tuple[str, str], ...], list[int]] = defaultdict(lambda: [0, 0])
    pools = {_pool(where.task) for where in counts if where.section == ONLOAD_WORK} - {""}
    for where, count in counts.items():
        by = where.section
        if not by and _pool(where.task) in pools:
            by = ONLOAD_WORK
        handed = by in (RCU_CALLBACKS, ONLOAD_WORK)
        own = handed or (where.task in server and not by)
        labels = {
            "side": "server" if own else "other",
            "task": by.replace("-", " ") if handed else where.task,
            "section": "" if handed else by,
            "mode": where.mode,
            "function": where.function if own else "",
        }
        if own and count.calls and where.function.startswith(SYSTEM_CALL):
            name = where.function.removeprefix(SYSTEM_CALL)
            yield from _edges(COUNT_SYSTEM_CALLS, count.calls, window, task=where.task, call=name)
        counted = merged[tuple(labels.items())]
        counted[0] += count.instructions
        counted[1] += count.string_bytes
    for key, counted in merged.items():
        for metric, value in zip((COUNT_INSTRUCTIONS, COUNT_STRING_BYTES), counted, strict=True):
            if value:
                yield from _edges(metric, value, window, **dict(key))


def _pool(task: str) -> str:
    """The pool of a worker that is bound to no processor, as `kworker/u3`: being woken and switched
    to is a part of the work. Empty: another task.
    """
    return task.partition(":")[0] if task.startswith("kworker/u") else ""


def _edges(metric: Metric, value: int, window: Window, **labels: str) -> Iterable[Sample]:
    yield metric.sample(window.start, 0, **labels)
    yield metric.sample(window.end, value, **labels)
