"""Undoing what a run made: at its end, and for a killed run at the next start."""

from harness.stack.onload.installation import Installation
from harness.stack.onload.interface import release
from harness.testbed import bulky, host_sysctl, hugepages, network
from harness.testbed.lock import RunLock
from harness.testbed.namespace import end_processes, processes_inside


def undo_all() -> list[str]:
    """End the programs inside our namespaces, let go of what Onload has, then remove these, then
    restore the hugepages and the settings of the whole machine, and remove bulky folders.

    What is ours is known by name; returns what was undone, in words. StackcostError when another
    process has a run going now: what it uses is no leftover.
    """
    with RunLock():
        return _undo_all()


def _undo_all() -> list[str]:
    done = []
    try:
        existing = network.existing_namespaces()
        inside = [process for name in existing for process in processes_inside(name)]
        if inside:
            end_processes(inside)
            done.append(f"ended {len(inside)} programs inside: {[p.pid for p in inside]}")
        released = release(Installation())  # before its interfaces are deleted
        done += [released] if released else []
        network.remove_network()
        done += [f"removed namespace {name}" for name in existing]
    finally:
        done += restore_settings()
        removed = bulky.remove()
    return done + ([removed] if removed else [])


def restore_settings() -> list[str]:
    """Put back what is the whole machine's, the last that was changed first; says what was done.

    A tier may set vm.nr_hugepages too, over what the bed had reserved before it.
    """
    return [what for what in (host_sysctl.restore(), hugepages.restore()) if what]
