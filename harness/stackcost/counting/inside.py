"""In a counting guest: a stack that takes the kernel's place. The harness outside calls it.

The guest has this machine's files, so this is the code that prepares, starts and checks the stack
on any host: python -m stackcost.counting.inside. It ends with the guest.
"""

import socket
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from stackcost.contracts.counts import StackCheck
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement
from stackcost.contracts.stack import Stack, When
from stackcost.host.namespace import end_group
from stackcost.host.timeouts import timeout_factor
from stackcost.remote.answering import Replies, serve
from stackcost.remote.stub import called
from stackcost.remote.types import decode_arguments
from stackcost.stacks import stack_of

PORT = 4600  # of 127.0.0.1 in the load's namespace: no segment of it is in the server's
SLOWNESS = 20.0  # factor for limits of time: the processor is emulated
STEP_S = 600.0


class StackInside:
    """A stack and the one program on it. `log`: what the program prints."""

    def __init__(self) -> None:
        self._stack: Stack | None = None
        self._program: subprocess.Popen[bytes] | None = None

    @called(limit_s=STEP_S)
    def prepare(self, name: str, place: Placement) -> None:
        """Make the stack of this name ready there."""
        self._stack = stack_of(name, place, counted=True)
        self._stack.prepare()

    @called(limit_s=STEP_S)
    def start(self, command: list[str], folder: Path, log: Path) -> int:
        """Start a program with this current folder; one that was started before ends first.

        Returns its process id, which is that of its session.
        """
        if self._program:
            end_group(self._program)
        with log.open("ab") as output:
            self._program = self._own.run(command, cwd=folder, stdout=output, stderr=output)
        return self._program.pid

    @called(limit_s=STEP_S)
    def explain(self, what: str) -> str:
        """Why the program did not start, where the stack knows better than these words."""
        return str(self._own.explain(StackcostError(what)))

    @called(limit_s=STEP_S)
    def check_stack(self, when: When, processes: Mapping[str, int]) -> None:
        """Look at what carries the program's connections. `processes`: its, by role."""
        self._own.check_stack(when, processes)

    @called(limit_s=STEP_S)
    def stack_check(self) -> StackCheck:
        """What carried them."""
        return self._own.stack_check()

    def describe(self) -> dict[str, Any]:
        """For the manifest."""
        return self._own.describe()

    @property
    def _own(self) -> Stack:
        if self._stack is None:
            raise StackcostError("the stack is not ready")
        return self._stack


def answer(inside: StackInside, caller: socket.socket) -> None:
    """Carry out the calls of one caller, one after the other, until it ends."""
    with caller, caller.makefile("rb") as calls, caller.makefile("wb") as told:
        serve(
            lambda: {StackInside: inside},
            calls,
            Replies(told),
            version="",
            decode=partial(decode_arguments, folder=Path("/run")),
            encode=to_jsonable_python,
            in_turn=True,
        )


def main() -> None:
    """Answer one caller after the other: the first may only look whether this is up."""
    inside = StackInside()
    with timeout_factor(SLOWNESS), socket.create_server(("127.0.0.1", PORT)) as server:
        while True:
            answer(inside, server.accept()[0])


if __name__ == "__main__":
    main()
