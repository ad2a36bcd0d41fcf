"""Where programs run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A network namespace, the interface that is used there, and the cores that may be used."""

    namespace: str
    interface: str
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BackendPlace(Place):
    """Where the backends of a server may run: in the load's namespace, on the load's cores.

    `address`, `prefix`: of `interface` there, in one network with the server's own end.
    """

    address: str
    prefix: int


@dataclass(frozen=True, slots=True)
class Placement(Place):
    """Where a program runs. `folder`: its own.

    `listens`: address and port that a server listens on; None for clients. `workers`: a server's
    processes or threads, or the number of client processes. `flows`: the planned number of flows
    that are open at once.
    """

    folder: Path
    listens: tuple[str, int] | None = None
    workers: int = 1
    flows: int = 0
