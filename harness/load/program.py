"""What a client program is asked for, what it tells, and what the harness asks of a program."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from stackcost.harness.load.times import Times

# How a program's own times begin and end differs; these words say which is which.
REQUEST = "request"  # from writing the request, on a connection that is open, to the last byte
CONNECTION = "connection"  # from opening the connection to the last byte
INTENDED = "completion"  # from the intended start by the schedule to the last byte


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What one client process does.

    `url`: scheme, address and port. `paths`: asked for in turn. `kept`: whether connections are
    kept open. `rate`: requests per second whatever the answers do; None: each connection asks again
    once it is answered. `seconds` in all, of which the first `warm_up_s` are in no latency where
    the program can leave them out.
    """

    url: str
    paths: tuple[str, ...]
    connections: int
    kept: bool
    seconds: int
    warm_up_s: float = 0.0
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What one client process counted over `seconds`.

    `requests` that were answered well, `failed` by cause, `received` bytes with headers where the
    program counts them, `times` by what they begin with. `unsent`: of a constant rate, what was
    due and not sent. `means`: microseconds from a connection's start to an event, where the program
    tells no more of it.
    """

    seconds: float
    requests: int
    received: int
    failed: dict[str, int]
    times: dict[str, Times] = field(default_factory=dict)
    unsent: int = 0
    means: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Requests answered per second."""
        return self.requests / self.seconds if self.seconds else 0.0


class LoadProgram(ABC):
    """One client program. `latency`: what its times are, in words."""

    name: ClassVar[str]
    latency: ClassVar[str]

    @abstractmethod
    def command(self, request: LoadRequest, folder: Path) -> list[str]:
        """Its command line; `folder` is its own, for its files."""

    @abstractmethod
    def read(self, request: LoadRequest, folder: Path, printed: str) -> LoadResult:
        """From what it printed and left in `folder`; ValueError when that is not its usual."""


def required(pattern: re.Pattern[str], printed: str) -> re.Match[str]:
    """Where a program's output has it; ValueError when it does not."""
    match = pattern.search(printed)
    if match is None:
        raise ValueError(f"{pattern.pattern!r} is not in what it printed: {printed[-500:]!r}")
    return match
