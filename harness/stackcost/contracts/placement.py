"""Where a program runs."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a program runs: namespace, the interface it uses there, its cores, its folder.

    `listens`: address and port that a server listens on; None for clients. `workers`: a server's
    processes or threads, or the number of client processes. `flows`: the planned number of flows
    that are open at once.
    """

    namespace: str
    interface: str
    cpus: tuple[int, ...]
    folder: Path
    listens: tuple[str, int] | None = None
    workers: int = 1
    flows: int = 0
