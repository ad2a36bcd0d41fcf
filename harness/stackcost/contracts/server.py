"""The interface of a system under test."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.collector import Collector
from stackcost.contracts.dut_settings import DutSettings
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.profile_file import ProfileFile
from stackcost.contracts.program_settings import HaproxySettings, ProgramSettings
from stackcost.contracts.tls import TlsSettings
from stackcost.contracts.tuning import STOCK, Tier
from stackcost.contracts.wiring import TO_SERVER, Wiring


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How an experiment wants a server to be set up.

    `response_bytes`: length of every response, headers and body. `request`: the exact bytes that
    the load will send, because the headers of a response may depend on them; empty for a server
    that sends and receives frames itself, but for one on packet sockets. `open_flows`: the highest
    number of connections that are held open at once. `tier`: the tuning tier; the harness sets its
    sysctls and the receive steering. `profile`, `tunables`: the ASTF profile of the load, for a
    server that runs a profile itself. `files`: for HTTP clients, the length of the body by path.
    All files are in memory, and `request` asks for the shortest one. Empty: the server sends the
    same response to every request. `tls_port`: the port that serves the same over TLS, with the
    server's own certificate and a full handshake for every connection; None: no TLS.
    `resumption_port`: the same with session tickets, which clients may resume; None: no such port.
    `http_versions`: that the TLS ports offer by ALPN; of 3, UDP's port of the same number.
    `tls`: of the connections of an ASTF profile; the server then serves the profile's port over TLS
    alone, and that is `tls_port` or `resumption_port`. None: without TLS.
    `program`, `haproxy`, `dut`: sections of the experiment, which servers and devices read.
    """

    response_bytes: int
    request: bytes
    open_flows: int = 0
    tier: Tier = STOCK
    profile: ProfileFile = Path()
    tunables: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)
    tls_port: int | None = None
    resumption_port: int | None = None
    http_versions: tuple[HttpVersion, ...] = ("1.1",)
    tls: TlsSettings | None = None
    program: ProgramSettings = field(default_factory=ProgramSettings)
    haproxy: HaproxySettings = field(default_factory=HaproxySettings)
    dut: DutSettings = field(default_factory=DutSettings)


def engine_congestion_control(profile: Path) -> str:
    """The algorithm of an ASTF server, in words: NewReno if its profile does not set another."""
    sets = profile.is_file() and "cc_algo" in profile.read_text()
    return "its profile's cc_algo" if sets else "NewReno"


class Server(ABC):
    """One system under test; it is created without being started.

    If a server cannot run on this machine, `start` raises StackcostError, which names the missing
    part and how that was found.

    `name`: such as "nginx/kernel". `kernel_stack`: whether it uses the kernel's stack. Otherwise it
    sends and receives frames itself, on an interface without addresses. `packet_socket`: whether it
    does so by packet sockets, and answers the request of the load. `serves_profile`: whether it is
    an ASTF server, which serves the load's profile. `wiring`: its test bed.
    `reference`: the reference peer on the same path, which does no server's work and shows the
    limit of generator and path. `ip_version`: of its clients. `passes_frames`: whether a device
    sends on the frames that it receives; a proxy sends its own. `passes_every_port`: whether it is
    a device that passes connections of every port to a server at the address that clients ask for,
    as HTTP clients need it for TLS. `takes_rules`: whether it is a device whose list of rules has
    the length `settings.dut.rules`. `takes_tls`: whether it serves, or passes on, connections of an
    ASTF profile with `settings.tls`. `not_counted`: why its instructions cannot be counted in a
    guest, as words after "because"; empty: they can be. `takes_reuseport`: whether
    `settings.program.reuseport` has an effect on it.
    """

    name: ClassVar[str]
    kernel_stack: ClassVar[bool] = True
    packet_socket: ClassVar[bool] = False
    serves_profile: ClassVar[bool] = False
    wiring: ClassVar[Wiring] = TO_SERVER
    reference: ClassVar[str] = "astf-peer"
    ip_version: IpVersion = 4
    passes_frames: ClassVar[bool] = True
    passes_every_port: ClassVar[bool] = False
    takes_rules: ClassVar[bool] = False
    takes_tls: ClassVar[bool] = False
    takes_reuseport: ClassVar[bool] = False
    not_counted: ClassVar[str] = "it is not one program that a guest can start"

    @classmethod
    @abstractmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """The server for an experiment, not started."""

    @classmethod
    def wiring_for(cls, settings: ServerSettings) -> Wiring:
        """The test bed that it needs for these settings."""
        return cls.wiring

    @classmethod
    def lacks(cls) -> str:
        """What an experiment can leave out where it is not installed, in words; empty: nothing.

        The result then says that the system was not measured, and why. Without what every run needs
        `start` fails instead.
        """
        return ""

    @classmethod
    def missing_program(cls) -> str:
        """The name of its program, if that is yet to be built; `build` builds it. Empty: none."""
        return ""

    @classmethod
    def build(cls) -> None:
        """Build its program, which takes minutes and happens once; StackcostError if it fails."""
        return

    @classmethod
    def lacks_version(cls, version: HttpVersion) -> str:
        """Why it cannot serve this version of HTTP here, as found by asking the installed program.

        Empty if it can. The result then says that tests of it were not measured, and why.
        """
        return "" if version == "1.1" else f"{cls.name} serves HTTP/1.1 only"

    @classmethod
    def lacks_resumption(cls) -> str:
        """Why it cannot serve `settings.resumption_port`; empty if it can."""
        return f"{cls.name} has no port with session tickets"

    @abstractmethod
    def start(self) -> None:
        """Start it and return once `check_health` passes; on failure leave nothing behind."""

    @abstractmethod
    def check_health(self) -> None:
        """Raise StackcostError unless it serves correctly now."""

    @abstractmethod
    def response_length(self) -> int:
        """Bytes (headers and body) of one response, as probed from the running server."""

    def probe_request(self) -> bytes | None:
        """A request that only the load's host can make; None: `response_length` needs none."""
        return None

    @abstractmethod
    def processes(self) -> dict[str, int]:
        """Process ids by role, such as {"master": 811, "worker-0": 812}."""

    def depends_on(self) -> dict[str, int]:
        """Process ids of its backends, or of the server behind it, by role.

        Their time does not count as its own. With threads that poll their interface, if these are
        known: their role begins with `stackcost.contracts.metrics.POLL_ROLE`.
        """
        return {}

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Version, configuration text, worker count, cores: for the manifest."""

    def congestion_control(self) -> str:
        """The algorithm of its own TCP, in words; empty for a program on the kernel's."""
        return ""

    @abstractmethod
    def stop(self) -> None:
        """End it and remove what it made; may be called at any time, more than once."""

    def requests_served(self) -> int | None:
        """Requests served since start by its own count; None if it has none or does not answer."""
        return None

    def sampled_statuses(self) -> dict[str, int] | None:
        """Some requests as the load makes them, one after the other: how many were answered by each
        status of HTTP; "none": without an answer. None where no program here can ask it.
        """
        return None

    def refusals(self) -> dict[str, int] | None:
        """Connections that it refused since start, by reason; empty if it does not count them.

        None if the server does not answer, which happens under overload.
        """
        return {}

    def dead_timeout_s(self) -> int | None:
        """How long it keeps a dead connection in its tracking table; None if it has no table."""
        return None

    def reset(self) -> None:
        """Forget all connections of the load, so that the next trial starts as the last did."""
        return

    def before_trial(self) -> dict[str, float]:
        """Bring it into the initial state of every trial; returns the state for the record.

        Most servers need nothing.
        """
        return {}

    def serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        """Serve this profile from now on; most servers answer any request and need nothing."""
        return

    def as_program(self, body_bytes: int) -> list[str]:
        """Write its files for a body of this length, and return the command of its program.

        For who starts it in another place, such as a guest that counts, with `endpoint.folder` as
        the current folder. Only a server without `not_counted` has one.
        """
        raise NotImplementedError

    def own_collectors(self) -> list[Collector]:
        """Collectors for the server's own figures."""
        return []
