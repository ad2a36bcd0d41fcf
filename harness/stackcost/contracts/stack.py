"""What carries the TCP connections of a program: the kernel, or what takes its place."""

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, get_args

from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import StackCheck, Usage
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement

KERNEL = "kernel"
When = Literal["before", "during", "after"]  # the load
MOMENTS: tuple[When, ...] = get_args(When)


class Stack(ABC):
    """One stack at one place: prepared, programs run on it, each trial checked, released.

    `name`: as experiments name it. `release` may be called at any time, more than once, and has to
    come before the place's interface is deleted. `congestion_control`: of its TCP, in words; empty
    for the kernel's.
    """

    name: str
    congestion_control: ClassVar[str] = ""

    def __init__(self, placement: Placement):
        self.placement = placement

    @abstractmethod
    def prepare(self) -> None:
        """Make ready what programs need; StackcostError naming what is missing."""

    @abstractmethod
    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a program at the place on this stack; `options` go to subprocess.Popen.

        `cpus`: in place of the place's, for one of several programs.
        """

    @abstractmethod
    def check_stack(self, when: When, processes: Mapping[str, int]) -> None:
        """Look at what carries the programs' connections; in the order of `When` in each trial."""

    @abstractmethod
    def stack_check(self, idle: bool = False) -> StackCheck:
        """What carried the connections, by the last trial's observations.

        `idle`: the trial had no connection, so that the observation before it has to do.
        """

    @abstractmethod
    def accept_queue(self, namespace: str, port: int) -> Usage | str:
        """Connections that are kept for the listeners of a port until a program accepts them, and
        how many may be; where that cannot be read, why.
        """

    @property
    def kept_sockets(self) -> int:
        """Closed sockets that it keeps in a program at most, each with a descriptor."""
        return 0

    def processes(self) -> dict[str, int]:
        """Process ids by role of its own programs, whose time and memory count as the server's."""
        return {}

    def own_collectors(self) -> list[Collector]:
        """Collectors of the running stack, for figures that only it knows."""
        return []

    @abstractmethod
    def explain(self, error: StackcostError) -> StackcostError:
        """Why a program did not start, where this stack knows better than the program's words."""

    @abstractmethod
    def release(self) -> None:
        """Undo `prepare`, after the programs have ended."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What it is and how it was set, for the manifest."""
