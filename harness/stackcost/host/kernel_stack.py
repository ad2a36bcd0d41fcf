"""The stack that every host has: its kernel's, by which programs are started as they are."""

import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from stackcost.contracts.counts import StackCheck, Usage
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.stack import KERNEL, Stack, When
from stackcost.host.namespace import execute, run


class Kernel(Stack):
    """The kernel's own: programs are started as they are."""

    name = KERNEL

    @override
    def prepare(self) -> None:
        """The kernel's stack is there."""

    @override
    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        return run(self.placement.namespace, command, cpus or self.placement.cpus, **options)

    def check_stack(self, when: When, processes: Mapping[str, int]) -> None:
        """Nothing else could carry them."""

    def stack_check(self, idle: bool = False) -> StackCheck:
        """The kernel's, as wanted."""
        return StackCheck(wanted=KERNEL, carried=KERNEL)

    def accept_queue(self, namespace: str, port: int) -> Usage | str:
        """By ss, which prints of each listener its state, queue and limit."""
        said = execute(namespace, ["ss", "-Hltn", f"sport = :{port}"])
        rows = [row.split() for row in said.splitlines()]
        if not rows:
            return f"the kernel has no listener of port {port}"
        return Usage(now=sum(int(row[1]) for row in rows), limit=sum(int(row[2]) for row in rows))

    @override
    def explain(self, error: StackcostError) -> StackcostError:
        return error

    @override
    def release(self) -> None:
        """Nothing was made ready."""

    def describe(self) -> dict[str, Any]:
        """Its name; the machine's description has the kernel's version."""
        return {"name": KERNEL}
