"""The contract of a loading side: everything that a session asks of its generators.

Arguments and results are plain data, so that a loading side may be in another process, and several
of them may be one. Words, counters and identifiers of profiles are those of the TRex ASTF API.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackcost.contracts.counts import GeneratorShare
from stackcost.trex.astf_client import ONLY


class LoadingSide(ABC):
    """A generator of ASTF profiles on its bed, or several that act as one.

    `begin` starts the generator. All methods below it need a generator that was started.
    """

    @abstractmethod
    def neighbours(self) -> list[str]:
        """MAC addresses of its interfaces, the clients' first."""

    @abstractmethod
    def ask_server(self, name: str, address: str, port: int, request: bytes) -> int:
        """Bytes of the response to a request from a kernel's stack, before `begin`.

        `name`: of the server, for messages. StackcostError if the status is not 200.
        """

    @abstractmethod
    def begin(self) -> None:
        """Start the generator, connect to it, and take its ports."""

    @abstractmethod
    def check(self) -> None:
        """StackcostError that names the generator, or its client, that has ended or is stopped."""

    @abstractmethod
    def steer(self) -> None:
        """Put the receive work of its interfaces on its cores again, after a port was attached."""

    @abstractmethod
    def load_profile(self, path: Path, tunables: Mapping[str, Any], profile: str = ONLY) -> None:
        """Load a profile file with these arguments. `profile`: its identifier."""

    @abstractmethod
    def start(self, mult: float, duration: float = -1, profile: str = ONLY) -> None:
        """Start a loaded profile; returns once it transmits.

        `mult` multiplies its connections per second. `duration`: seconds; negative: until stopped.
        """

    @abstractmethod
    def update(self, mult: float) -> None:
        """Change the multiplier of running traffic."""

    @abstractmethod
    def is_traffic_active(self) -> bool:
        """Whether it transmits or still cleans up."""

    @abstractmethod
    def stop(self) -> None:
        """Abort all flows, and return when no generator has one."""

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Counters under TRex's names: "traffic" by side ("client", "server"), "0" and "1" by port.

        Counters of zero are included.
        """

    @abstractmethod
    def group_stats(self, profile: str = ONLY) -> dict[str, Any]:
        """Counters of each template group of a profile, by side."""

    @abstractmethod
    def supports(self, method: str) -> bool:
        """Whether this RPC method can be called; TRex lacks those of astf-engine."""

    @abstractmethod
    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result of an RPC method that reads something."""

    @abstractmethod
    def data_cpus(self) -> list[int]:
        """CPUs that only data threads use; empty if a data thread shares its CPU with control."""

    @abstractmethod
    def shares(self) -> list[GeneratorShare]:
        """What each of several generators did in this trial; empty for a single one."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """`generator`, and `test_bed` if it is not the server's, for the manifest."""
