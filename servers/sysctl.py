"""Kernel settings of one network namespace: set for a server's life, and put back."""

from dataclasses import dataclass

from harness.errors import StackcostError
from harness.testbed.namespace import execute


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a set of settings.

    `before`: old values, by name, of those that were set. `skipped`: why, by name, the others
    were not; a setting of the whole machine is never touched.
    """

    before: dict[str, str]
    skipped: dict[str, str]


def apply(namespace: str, settings: dict[str, str]) -> Applied:
    """Set those of `settings` that `namespace` has of its own."""
    applied = Applied({}, {})
    for name, value in settings.items():
        if not name.startswith("net."):
            applied.skipped[name] = "belongs to the whole machine"
            continue
        try:
            old = execute(namespace, ["sysctl", "-n", name]).strip()
            execute(namespace, ["sysctl", "-q", "-w", f"{name}={value}"])
        except StackcostError:  # shown only to the host's namespace, or unknown to this kernel
            applied.skipped[name] = "not a setting of a network namespace on this kernel"
            continue
        applied.before[name] = old
    return applied


def restore(namespace: str, applied: Applied) -> None:
    """Put the old values back; a namespace that is gone took its settings with it."""
    for name, old in applied.before.items():
        try:
            execute(namespace, ["sysctl", "-q", "-w", f"{name}={old}"])
        except StackcostError:
            continue
