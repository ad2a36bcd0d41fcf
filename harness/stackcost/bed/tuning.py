"""Tuning tiers: settings of the kernel for a turn, each written down and undone.

Each tier is a file in `tiers/`, with the source of every setting.
"""

import glob
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.tuning import CONGESTION_CONTROL, Change, Receive, Setting, Tier, Where
from stackcost.host import host_sysctl
from stackcost.host.cores import CpuPlace, place_of
from stackcost.host.namespace import execute
from stackcost.host.undo import undo
from stackcost.host.yaml_file import read_yaml

FOLDER = Path(__file__).parent / "tiers"
SUFFIX = ".yaml"


def tier_lacks(tier: Tier, server_cores: int) -> str:
    """Why this machine cannot measure a tier with this number of cores; empty if it can."""
    if tier.receive.apart and server_cores < 2:
        return f"it needs 2 server cores, but the experiment has {server_cores}"
    devices, calls, found = tier.needs.devices, tier.needs.calls, []
    if devices and not glob.glob(devices):
        found.append(f"a device {devices}, which does not exist")
    if calls and calls not in _symbols():
        found.append(f"an nginx that calls {calls}, which the one in PATH does not")
    return f"it needs {' and '.join(found)}; {tier.needs.hint}" if found else ""


def _symbols() -> str:
    """The bytes of the installed nginx, which name the functions it links; empty without one.

    `nginx -V` does not list libraries that were given by variables at its build.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    return Path(program).read_bytes().decode("latin-1") if program else ""


def tier_names() -> list[str]:
    """The names of all tiers."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def tier_of(name: str) -> Tier:
    """The tier of this name, or of the user's own file (`name` ends in .yaml).

    StackcostError with all names if there is none.
    """
    path = Path(name) if name.endswith(SUFFIX) else FOLDER / f"{name}{SUFFIX}"
    if not path.is_file():
        raise StackcostError(
            f"there is no tuning tier {name!r}",
            f"choose one of {', '.join(tier_names())}, or a file",
        )
    try:
        return Tier.model_validate(dict(read_yaml(path, "the tier")) | {"name": path.stem})
    except (ValidationError, ValueError, TypeError) as error:
        raise StackcostError(f"{path} is not a tuning tier: {error}") from error


def layout(
    receive: Receive, cores: Sequence[int], place: Callable[[int], CpuPlace] = place_of
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cores that receive, and those of the server's programs; the same ones unless `apart`.

    Apart as in the Solarflare white paper, table 1, configuration 1: of cores on several NUMA nodes
    those of the first node receive, on which a NIC would be. On one node, one hardware thread of
    each core receives, and its sibling runs programs. Cores with a single thread are halved.
    """
    if not receive.apart:
        return tuple(cores), tuple(cores)
    places = {core: place(core) for core in cores}
    node = places[cores[0]].node
    threads = [each.core for each in places.values()]
    if any(each.node != node for each in places.values()):
        first = [core for core in cores if places[core].node == node]
    elif all(threads.count(each) > 1 for each in threads):
        lowest = {of.core: of.thread for of in sorted(places.values(), key=lambda of: -of.thread)}
        first = [core for core in cores if places[core].thread == lowest[places[core].core]]
    else:
        first = list(cores[: len(cores) // 2])
    return tuple(first), tuple(core for core in cores if core not in first)


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
