"""Undoes what a run made: at its end, or for a killed run at the start of the next one."""

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil

from stackcost.bed import guest_image as image
from stackcost.bed import guest_running as running
from stackcost.bed import hugepages
from stackcost.bed.interfaces import give_back
from stackcost.bed.lock import RunLock
from stackcost.bed.network import existing_namespaces, remove_namespace
from stackcost.contracts.errors import StackcostError
from stackcost.host import host_sysctl, large_folders, memory_group
from stackcost.host.namespace import end_processes, processes_inside
from stackcost.host.state import damaged_records, state_folder
from stackcost.host.undo import UndoStep, undo
from stackcost.stacks.onload.installation import Installation
from stackcost.stacks.onload.interface import registered, release

PREFIX = "agent-"


def agent_folder() -> Path:
    """The folder of this process; it need not exist."""
    return state_folder() / f"{PREFIX}{os.getpid()}"


def remove_abandoned() -> list[UndoStep]:
    """Remove the folders of agents that were killed."""
    return [
        _remove(folder)
        for folder in sorted(state_folder().glob(f"{PREFIX}*"))
        if not psutil.pid_exists(int(folder.name.removeprefix(PREFIX)))
    ]


def _remove(folder: Path) -> UndoStep:
    return undo(
        f"remove {folder}",
        partial(shutil.rmtree, folder),
        lambda: "it is still there" if folder.exists() else "",
        "it uses memory; figures do not depend on it",
    )


IN_THE_WAY = "a new test bed cannot be made before this is done"
_reported: set[UndoStep] = set()


def undo_all() -> list[UndoStep]:
    """Undo everything that a run made or changed on this machine.

    It ends the programs in our namespaces, releases Onload's interfaces, gives back interfaces,
    removes the namespaces, restores the settings of the whole machine, and removes large folders
    and control groups.

    Names or records identify what is ours. Every step is tried, even if another one failed, and the
    next call tries it again until it is done. StackcostError if another process has an active run:
    what that run uses is no leftover.
    """
    with RunLock():
        return [*_part("namespaces", _undo_network), *undo_settings()]


def undo_settings() -> list[UndoStep]:
    """Restore settings of the whole machine, the last changed one first.

    A tuning tier may also set vm.nr_hugepages, after the test bed has reserved hugepages.
    """
    return [
        *_part("sysctls", host_sysctl.restore),
        *_part("hugepages", hugepages.restore),
        *_part("folders", large_folders.remove),
        *_part("control groups", memory_group.remove),
        *_part("folders of agents", remove_abandoned),
        *_part("guests", running.stop_abandoned),
        *_part("images of guests", image.remove_abandoned),
        *damaged_records(),
    ]


def undo_and_report() -> list[UndoStep]:
    """Call `undo_all`; return the failed steps, and print each once on standard error."""
    left = [step for step in undo_all() if not step.done]
    for step in left:
        if step not in _reported:
            print(f"stackcost: {step}", file=sys.stderr)
    _reported.update(left)
    return left


def _part(name: str, steps: Callable[[], list[UndoStep]]) -> list[UndoStep]:
    """The steps of one kind. An error, such as a disk failure, becomes a failed step."""
    try:
        return steps()
    except Exception as error:
        return [UndoStep(f"undo changes to {name}", str(error), "it is unknown what is left")]


def _undo_network() -> list[UndoStep]:
    names = existing_namespaces()
    before = [_end_programs(name) for name in names if processes_inside(name)]
    if interfaces := ", ".join(interface for _, interface in registered()):
        before.append(
            undo(
                f"release {interfaces} from Onload",
                lambda: release(Installation()),
                lambda: "Onload still uses it" if registered() else "",
                IN_THE_WAY,
                blocks=True,
            )
        )
    before += give_back()
    first = "; ".join(step.what for step in before if not step.done)
    return before + [_remove_namespace(name, first) for name in names]


def _end_programs(namespace: str) -> UndoStep:
    programs = processes_inside(namespace)

    def left() -> str:
        inside = processes_inside(namespace)
        return ", ".join(f"{_name(each)} ({each.pid}) still runs" for each in inside)

    return undo(
        f"end {len(programs)} programs inside {namespace}: {[each.pid for each in programs]}",
        partial(end_processes, programs),
        left,
        IN_THE_WAY,
        blocks=True,
    )


def _remove_namespace(name: str, first: str) -> UndoStep:
    """`first`: the steps that must be done before, as text; empty if there are none."""

    def remove() -> None:
        if first:
            raise StackcostError(f"this must be done first: {first}")
        remove_namespace(name)

    def left() -> str:
        return "it is still there" if name in existing_namespaces() else ""

    return undo(f"remove namespace {name}", remove, left, IN_THE_WAY, blocks=True)


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.Error:  # it has just ended
        return "?"
