"""What the harness asks of a stack, and the kernel's, which asks for nothing."""

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import run

KERNEL = "kernel"
When = Literal["before", "during", "after"]  # the load
LOOKS: tuple[When, ...] = get_args(When)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program runs: namespace, the interface it uses there, its cores, its folder.

    `listens`: address and port that a server listens on; None for clients. `workers`: a server's
    processes or threads, or the number of client processes.
    """

    namespace: str
    interface: str
    cpus: tuple[int, ...]
    folder: Path
    listens: tuple[str, int] | None = None
    workers: int = 1


class Stack(ABC):
    """One stack at one place: prepared, programs run on it, each trial proved, released.

    `name`: as experiments name it. `release` may be called at any time, more than once, and has to
    come before the place's interface is deleted.
    """

    name: str

    def __init__(self, place: Place):
        self.place = place

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
    def prove(self, when: When, processes: Mapping[str, int]) -> None:
        """Look at what carries the programs' connections; in the order of `When` in each trial."""

    @abstractmethod
    def proof(self, idle: bool = False) -> dict[str, Any]:
        """What the last trial's looks found: `wanted`, `carried` and, where they differ, `why`.

        `idle`: the trial had no connection, so that the look before it has to do.
        """

    @abstractmethod
    def explain(self, error: StackcostError) -> StackcostError:
        """Why a program did not start, where this stack knows better than the program's words."""

    @abstractmethod
    def release(self) -> None:
        """Undo `prepare`, after the programs have ended."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What it is and how it was set, for the manifest."""


class Kernel(Stack):
    """The kernel's own: programs are started as they are."""

    name = KERNEL

    def prepare(self) -> None:
        """It is there."""

    def run(
        self, command: Sequence[str], cpus: Sequence[int] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        """As it is."""
        return run(self.place.namespace, command, cpus or self.place.cpus, **options)

    def prove(self, when: When, processes: Mapping[str, int]) -> None:
        """Nothing else could carry them."""

    def proof(self, idle: bool = False) -> dict[str, Any]:
        """The kernel's, as wanted."""
        return {"wanted": KERNEL, "carried": KERNEL}

    def explain(self, error: StackcostError) -> StackcostError:
        """The program knows best."""
        return error

    def release(self) -> None:
        """Nothing was made ready."""

    def describe(self) -> dict[str, Any]:
        """Its name; the machine's description has the kernel's version."""
        return {"name": KERNEL}
