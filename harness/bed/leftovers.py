"""Undoing what a run made: at its end, and for a killed run at the next start."""

import sys
from collections.abc import Callable
from functools import partial

import psutil

from stackcost.contracts.errors import StackcostError
from stackcost.harness.bed import hugepages
from stackcost.harness.bed.lock import RunLock
from stackcost.harness.bed.network import existing_namespaces, remove_namespace
from stackcost.host import host_sysctl, large_folders
from stackcost.host.namespace import end_processes, processes_inside
from stackcost.host.state import damaged_records
from stackcost.host.undo import UndoStep, undo
from stackcost.stacks.onload.installation import Installation
from stackcost.stacks.onload.interface import registered, release

IN_THE_WAY = "a test bed cannot be made beside it"
_told: set[UndoStep] = set()


def undo_all() -> list[UndoStep]:
    """End the programs inside our namespaces, let go of what Onload has, then remove these, then
    restore the settings of the whole machine, and remove large folders.

    What is ours is known by name, or recorded. Every step is tried, whatever became of the others,
    and is tried again by the next call until it is seen to be done. StackcostError when another
    process has a run going now: what it uses is no leftover.
    """
    with RunLock():
        return [*_part("namespaces", _undo_network), *undo_settings()]


def undo_settings() -> list[UndoStep]:
    """Put back what is the whole machine's, the last that was changed first.

    A tier may set vm.nr_hugepages too, over what the bed had reserved before it.
    """
    return [
        *_part("sysctls", host_sysctl.restore),
        *_part("hugepages", hugepages.restore),
        *_part("folders", large_folders.remove),
        *damaged_records(),
    ]


def undo_and_report() -> list[UndoStep]:
    """`undo_all`; returns what is not done, and says it on standard error once in this process."""
    left = [step for step in undo_all() if not step.done]
    for step in left:
        if step not in _told:
            print(f"stackcost: {step}", file=sys.stderr)
    _told.update(left)
    return left


def _part(name: str, steps: Callable[[], list[UndoStep]]) -> list[UndoStep]:
    """The steps of one kind; what they are may itself not be known, as when a disk fails."""
    try:
        return steps()
    except Exception as error:
        return [UndoStep(f"undo what a run did to {name}", str(error), "nobody knows what is left")]


def _undo_network() -> list[UndoStep]:
    names = existing_namespaces()
    before = [_end_programs(name) for name in names if processes_inside(name)]
    if interfaces := ", ".join(interface for _, interface in registered()):
        before.append(
            undo(
                f"release {interfaces} from Onload",
                lambda: release(Installation()),
                lambda: "Onload still has it" if registered() else "",
                IN_THE_WAY,
                blocks=True,
            )
        )
    first = "; ".join(step.what for step in before if not step.done)
    return before + [_remove_namespace(name, first) for name in names]


def _end_programs(namespace: str) -> UndoStep:
    programs = processes_inside(namespace)

    def left() -> str:
        return ", ".join(f"{_name(each)} ({each.pid}) runs" for each in processes_inside(namespace))

    return undo(
        f"end {len(programs)} programs inside {namespace}: {[each.pid for each in programs]}",
        partial(end_processes, programs),
        left,
        IN_THE_WAY,
        blocks=True,
    )


def _remove_namespace(name: str, first: str) -> UndoStep:
    """`first`: what has to be done before, in words; empty when nothing."""

    def remove() -> None:
        if first:
            raise StackcostError(f"it stays until this is done: {first}")
        remove_namespace(name)

    def left() -> str:
        return "it is still there" if name in existing_namespaces() else ""

    return undo(f"remove namespace {name}", remove, left, IN_THE_WAY, blocks=True)


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.Error:  # it has just ended
        return "?"
