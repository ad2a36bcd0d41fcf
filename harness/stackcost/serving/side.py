"""The contract of a serving side: everything that a session asks of it.

Arguments and results are plain data, so that a serving side may be in another process.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from stackcost.collect.cpu_account import Detail
from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import Carrier, Clock, Limits
from stackcost.contracts.sample import Sample
from stackcost.contracts.stack import When
from stackcost.contracts.wiring import Wiring


@dataclass(frozen=True, slots=True)
class Interface:
    """Frames that an interface has received and sent (/proc/net/dev, columns 2 and 10)."""

    received: int
    sent: int


class Sampling(Protocol):
    """Readings of all collectors, on one host or several."""

    @property
    def samples(self) -> list[Sample]:
        """Everything read so far, in order of time."""

    def read_now(self) -> list[Sample]:
        """Read everything now and return it; for the edges of a window."""

    def read_often(self, names: Collection[str], interval_s: float) -> None:
        """From the next reading on, also read the collectors with these names at this interval."""

    def divide(self, on: bool) -> None:
        """Begin or end what the collectors read for a part of a trial only."""


class ServingSide(ABC):
    """A server that runs, its bed, its stack and its tuning.

    `name`: of the server. `ip_version`: of its clients. `wiring`: its test bed.
    """

    name: str
    ip_version: IpVersion
    wiring: Wiring

    @abstractmethod
    def response_length(self) -> int:
        """Bytes (headers and body) of one response, as probed from the running server."""

    @abstractmethod
    def probe_request(self) -> bytes | None:
        """A request by which only the load's side can probe the server; None: none is needed.

        The length of its response is then that of all, in place of `response_length`.
        """

    @abstractmethod
    def check(self) -> None:
        """StackcostError that names the part that has ended or is stopped."""

    @abstractmethod
    def sampling(
        self, others: Sequence[Collector], detail: Detail
    ) -> AbstractContextManager[Sampling]:
        """Inside, everything of this side is read periodically, and the `others` with it.

        `others`: collectors of this process, such as the generator's. `detail`: how detailed CPU
        time is measured.
        """

    @abstractmethod
    def clocks(self) -> dict[str, Clock]:
        """The clock of each other host that samples come from, compared with this one now."""

    @abstractmethod
    def before_trial(self) -> dict[str, float]:
        """Bring the server into the initial state of every trial; returns it for the record."""

    @abstractmethod
    def serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        """Serve this profile from now on; most servers answer any request and need nothing."""

    @abstractmethod
    def look(self, when: When) -> None:
        """Record which stack carries the connections now; call it in the order of `When`."""

    @abstractmethod
    def proof(self, idle: bool) -> Carrier | None:
        """What carried the connections of the last trial. `idle`: it had no connection.

        None of a device whose stack is its own.
        """

    @abstractmethod
    def requests_served(self) -> int | None:
        """Requests since start by the server's own count; None if it has none, or is silent."""

    @abstractmethod
    def refusals(self) -> dict[str, int] | None:
        """Connections that the server refused since start, by reason; None if it is silent."""

    @abstractmethod
    def limits(self, port: int) -> Limits:
        """What is used and what is granted at this moment. `port`: of the listeners.

        `refused` is left out, because it is counted over the whole trial.
        """

    @abstractmethod
    def frames(self) -> list[Interface | None]:
        """Of each interface under test; then of a server behind a device, if there is one.

        None for an interface that cannot be read. Empty for a device that passes no frames on, such
        as a proxy.
        """

    @abstractmethod
    def dead_timeout_s(self) -> int | None:
        """How long a dead connection stays in the tracking table; None if there is no table."""

    @abstractmethod
    def reset(self) -> None:
        """Forget all connections of the load, so that the next trial starts as the last did."""

    @abstractmethod
    def cut_link(self) -> None:
        """Set the link of a device to the servers down, for good."""

    @abstractmethod
    def remove_device(self) -> None:
        """Remove a device and its links, and so the generator's ports at their ends.

        StackcostError if its interfaces are those of a host, which nothing can remove.
        """

    @abstractmethod
    def open_connections(self) -> int:
        """TCP connections that the kernel's stack of the server holds open (Tcp CurrEstab)."""

    @abstractmethod
    def end_connections(self, port: int) -> None:
        """Reset all connections of the kernel's stack to this port (INET_DIAG_DESTROY)."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """`test_bed` and `server`, for the manifest."""
