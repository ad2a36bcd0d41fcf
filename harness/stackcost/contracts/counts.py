"""What is read in trials of several kinds: each is defined here once, with its unit."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import ConfigDict

Direction = Literal["to servers", "to clients"]

# By template group (empty: none), and by what the times begin and end with ("connect",
# "tls_handshake", "first_byte" or "completion" from a connection's intended start; of HTTP clients
# "request" or "connection"): microseconds as an HdrHistogram in its V2 encoding in base64.
Histograms: TypeAlias = dict[str, dict[str, str]]


class StoredData:
    """A part of a stored trial. A field that it does not have is an error when it is read."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(slots=True)
class Schedule(StoredData):
    """How a generator kept its open-loop schedule over the whole trial, in connections.

    `intended`: due by the schedule. `opened`: of those, started. `late`: of those, started more
    than 1 ms after they were due. `unsent`: due and given up. Source: RPC stackcost_get_schedule,
    which a TRex lacks.
    """

    intended: int
    opened: int
    late: int
    unsent: int


@dataclass(slots=True)
class GeneratorShare(StoredData):
    """What one of several generators did over the whole trial.

    `part`: its part of the planned load, 0 to 1. `clients`: its range of addresses, "first-last".
    `started_s`: seconds from the start of the first generator to its own, as the controller saw
    them. `client`: counters of its clients under TRex's names. `schedule`: None: it does not tell.
    """

    name: str
    part: float
    clients: str
    started_s: float
    client: dict[str, float] = field(default_factory=dict)
    schedule: Schedule | None = None


@dataclass(slots=True)
class Second(StoredData):
    """Times of the connections that ended in about one second, from `start` to `end` of
    CLOCK_MONOTONIC.
    """

    start: float
    end: float
    latency: Histograms


@dataclass(slots=True)
class FramesPassed(StoredData):
    """Frames of one direction over the whole trial, by point of the way through a device.

    `sent` by the near end, `entered` the device, `left` it, `arrived` at the far end. Sources: the
    generator's port counters (opackets, ipackets) and /proc/net/dev of the other interfaces. None
    of a device that cannot be read.
    """

    sent: int
    entered: int | None
    left: int | None
    arrived: int


@dataclass(slots=True)
class Usage(StoredData):
    """How many there are `now`, and the `limit` that was granted."""

    now: int
    limit: int


@dataclass(slots=True)
class Limits(StoredData):
    """What a server used and what it was granted, read at once under load.

    `open_files`: files and sockets of each of its processes, by role (RLIMIT_NOFILE).
    `accept_queue`: connections that the server's stack keeps for its listening sockets until they
    are accepted (sums; of the kernel by ss, of Onload by orm_json); None: why is in
    `no_accept_queue`. `tracked_connections_limit`: entries that netfilter
    may track (nf_conntrack_max); None: it tracks none. `refused`: connections that the server
    itself turned away over the trial, by the reason that it gives; None: it did not answer.
    """

    open_files: dict[str, Usage] = field(default_factory=dict)
    accept_queue: Usage | None = None
    tracked_connections_limit: int | None = None
    refused: dict[str, int] | None = None
    no_accept_queue: str = ""


@dataclass(slots=True)
class Clock(StoredData):
    """By how much the CLOCK_MONOTONIC of another host was ahead, in seconds.

    `offset_s`: that the samples from there were moved by, so that all times of a trial are those of
    the controller's clock. `error_s`: the largest error of it.
    """

    offset_s: float
    error_s: float


NOT_SEEN = "not seen"


@dataclass(slots=True)
class StackCheck(StoredData):
    """Which stack carried a program's connections in a trial.

    `wanted`, `carried`: names of stacks; NOT_SEEN where nothing shows that it was the wanted one,
    nor that it was another. `why`: where they differ, the reason. `observations`: what a stack that
    replaces the kernel's found before, during and after the load; its content is the stack's own,
    for people.
    """

    wanted: str
    carried: str
    why: str = ""
    observations: dict[str, object] = field(default_factory=dict)

    @property
    def as_wanted(self) -> bool:
        """Whether it was the wanted one."""
        return self.carried == self.wanted

    @property
    def difference(self) -> str:
        """What it was instead, and why, in words; empty if it was the wanted one."""
        if self.as_wanted:
            return ""
        if self.carried == NOT_SEEN:
            return f"not seen to be carried by {self.wanted}: {self.why}"
        return f"carried by the kernel's stack instead of {self.wanted}: {self.why}"
