"""Sets a tier's kernel settings while a server runs, and records the result of each."""

from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any, Self

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.tuning import CONGESTION_CONTROL, Change, Setting, Tier, Where
from stackcost.host import host_sysctl
from stackcost.host.namespace import execute
from stackcost.host.undo import undo

ALLOWED = "net.ipv4.tcp_allowed_congestion_control"


class Tuning:
    """A context manager: sets the tier's sysctls on entry and restores them on exit.

    A sysctl is set in `namespace` if it exists per namespace. Otherwise it is set for the whole
    machine; its old value is first written to the state folder, so that the next start
    restores it after a kill. `changes`: the result of each setting.
    """

    def __init__(self, tier: Tier, namespace: str):
        self.tier = tier
        self.changes: list[Change] = []
        self._namespace = namespace

    def __enter__(self) -> Self:
        try:
            for name, setting in self.tier.sysctls.items():
                self.changes.append(self._set(name, setting))
        except BaseException:
            self._undo()
            raise
        configured = [each for context in self.tier.nginx.values() for each in context.items()]
        self.changes += [_told(f"nginx {name}", "server", each) for name, each in configured]
        self.changes += [_told(name, "machine", each) for name, each in self.tier.other.items()]
        return self

    def __exit__(self, *_: object) -> None:
        self._undo()

    def describe(self) -> dict[str, Any]:
        """For the manifest: the wanted settings and the results."""
        return {
            "tier": self.tier.name,
            "title": self.tier.title,
            "source": self.tier.source,
            "receive": self.tier.receive.model_dump(),
            "changes": [asdict(change) for change in self.changes],
        }

    def _undo(self) -> None:
        """Undo the changes one by one. What remains in a namespace ends with the namespace.

        What cannot be undone on the machine stays recorded; the clean-up of the bed reports it.
        """
        for change in reversed(self.changes):
            if change.where == "namespace" and change.before is not None:
                undo(
                    f"set {change.setting} back to {change.before}",
                    partial(self._write, "namespace", change.setting, change.before),
                    partial(self._difference, change.setting, change.before),
                )
        host_sysctl.restore()

    def _difference(self, name: str, wanted: str) -> str:
        now = self._read("namespace", name)
        return "" if _words(now) == _words(wanted) else f"it is {now}"

    def _set(self, name: str, setting: Setting) -> Change:
        where: Where = "namespace"
        # Only net.* settings exist per namespace; others belong to the whole machine.
        if not name.startswith("net.") or self._read(where, name) is None:
            where = "machine"
        before = self._read(where, name)
        reason = setting.left
        if before is None:
            reason = reason or "this kernel has no such setting, or its module is not loaded"
        elif not reason:
            if name == CONGESTION_CONTROL:
                _allow(setting.value)
            reason = self._write(where, name, setting.value)
        after = self._read(where, name)
        if not reason and _words(after) != _words(setting.value):
            reason = "the kernel set another value"
        return Change(
            setting=name,
            where=where,
            wanted=setting.value,
            before=before,
            after=after,
            source=setting.source,
            reason=reason,
        )

    def _read(self, where: Where, name: str) -> str | None:
        if where == "machine":
            return host_sysctl.read(name)
        try:
            return execute(self._namespace, ["sysctl", "-n", name]).strip()
        except StackcostError:
            return None

    def _write(self, where: Where, name: str, value: str) -> str:
        """Set it; returns the kernel's reason for refusing, or an empty text."""
        try:
            if where == "machine":
                host_sysctl.write(name, value)
            else:
                execute(self._namespace, ["sysctl", "-q", "-w", f"{name}={value}"])
        except StackcostError as error:
            return f"the kernel refused the value: {error.what}"
        return ""


def _told(name: str, where: Where, setting: Setting) -> Change:
    """The result of a setting that is not a sysctl."""
    return Change(
        setting=name,
        where=where,
        wanted=setting.value,
        before=None,
        after=None if setting.left else setting.value,
        source=setting.source,
        reason=setting.left,
    )


def _allow(algorithm: str) -> None:
    """Let namespaces choose this algorithm: they may use only those that the machine allows
    (tcp_set_default_congestion_control in net/ipv4/tcp_cong.c). A refusal shows where it is chosen.
    """
    allowed = _words(host_sysctl.read(ALLOWED))
    if algorithm not in allowed:
        with suppress(StackcostError):
            host_sysctl.write(ALLOWED, " ".join([*allowed, algorithm]))


def _words(value: str | None) -> list[str]:
    return (value or "").split()
