"""The interface of client programs: a request for load, and its result."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from stackcost.clients.times import Times
from stackcost.contracts.http import HttpVersion

# The kinds of time: programs measure from different starting points.
REQUEST = "request"  # from writing the request, on a connection that is open, to the last byte
CONNECTION = "connection"  # from opening the connection to the last byte
INTENDED = "completion"  # from the intended start by the schedule to the last byte
CONNECT = "connect"  # from opening the connection until it is open
DELAY = "first_byte"  # from the written request to the first byte of the response


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The load that one client process generates.

    `url`: scheme, address and port. `paths`: requested in turn. `kept`: whether connections stay
    open. `rate`: requests per second, independent of the responses; None: each connection sends the
    next request after a response. `seconds`: total duration. The first `warm_up_s` are not in the
    latency if the program can leave them out. `version`: of HTTP. `streams`: requests that a
    connection of HTTP/2 or HTTP/3 has under way at once.
    """

    url: str
    paths: tuple[str, ...]
    connections: int
    kept: bool
    seconds: int
    warm_up_s: float = 0.0
    rate: float | None = None
    version: HttpVersion = "1.1"
    streams: int = 1


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The counts of one client process over `seconds`.

    `requests`: successful ones. `failed`: by cause. `received`: bytes, with headers if the program
    counts them. `times`: by kind of time. `unsent`: at a constant rate, requests that were
    scheduled but not sent. `means`: mean microseconds from a connection's start to an event, if the
    program reports only the mean.
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
    """One client program. `latency`: describes its times. `versions`: of HTTP that it speaks.

    `rates`: whether it can send at a constant rate. `resumes`: whether a new connection continues
    the TLS session of an earlier one where the server gives tickets; otherwise it never does.
    """

    name: ClassVar[str]
    latency: ClassVar[str]
    versions: ClassVar[tuple[HttpVersion, ...]] = ("1.1",)
    rates: ClassVar[bool] = False
    resumes: ClassVar[bool] = False

    @property
    def program(self) -> str:
        """The name of the file to start."""
        return self.name

    def lacks(self) -> str:
        """What an experiment can leave out where it is not installed, in words; empty: nothing."""
        return ""

    @abstractmethod
    def command(self, request: LoadRequest, folder: Path) -> list[str]:
        """Its command line. `folder`: for its files."""

    @abstractmethod
    def read(self, request: LoadRequest, folder: Path, printed: str) -> LoadResult:
        """Parse its output and its files in `folder`; ValueError if they are unexpected."""


def required(pattern: re.Pattern[str], printed: str) -> re.Match[str]:
    """The match of a pattern in a program's output; ValueError if there is none."""
    match = pattern.search(printed)
    if match is None:
        raise ValueError(f"{pattern.pattern!r} is not in its output: {printed[-500:]!r}")
    return match
