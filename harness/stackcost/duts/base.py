"""A device under test: a system under test between the generator's two ports.

The generator acts as clients and servers. On this machine the device is a network namespace with
two veth interfaces, whose receive work runs on the device's own cores.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from stackcost.collect.tracking import Tracking
from stackcost.contracts.addresses import (
    BACKEND_ADDRESS,
    CLIENT_ADDRESS,
    CLIENT_NETWORK,
    CLIENT_PREFIX,
    DUT_CLIENT_ADDRESS,
    DUT_SERVER_ADDRESS,
    LOAD_ADDRESS,
    SERVER_PREFIX,
    IpVersion,
    ipv6_of,
)
from stackcost.contracts.collector import Collector
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.metrics import POLL_ROLE
from stackcost.contracts.server import Server, ServerSettings, engine_congestion_control
from stackcost.contracts.wiring import (
    DUT_CLIENT_INTERFACE,
    DUT_SERVER_INTERFACE,
    THROUGH_ROUTER,
    Wiring,
)
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import execute, hardware_address
from stackcost.host.steering import poll_threads
from stackcost.servers.registry import server_class

SERVER_NETWORK = "48.0.0.0/8"


class RouterSide(NamedTuple):
    """One side of a router: its interface and address, its neighbour, and what is behind that."""

    interface: str
    address: str
    neighbour: str
    network: str
    prefix: str

    def addresses(self, version: IpVersion) -> tuple[str, str, str, int]:
        """Own, the neighbour's, network behind it, bits of the network between them."""
        if version == 4:
            return self.address, self.neighbour, self.network, 24
        return ipv6_of(self.address), ipv6_of(self.neighbour), f"{self.prefix}/96", 120


ROUTER_SIDES = (
    RouterSide(
        DUT_CLIENT_INTERFACE, DUT_CLIENT_ADDRESS, LOAD_ADDRESS, CLIENT_NETWORK, CLIENT_PREFIX
    ),
    RouterSide(
        DUT_SERVER_INTERFACE, DUT_SERVER_ADDRESS, BACKEND_ADDRESS, SERVER_NETWORK, SERVER_PREFIX
    ),
)


BACKEND = "nginx/kernel"  # the server behind a device
FORWARDING = {4: "net.ipv4.ip_forward", 6: "net.ipv6.conf.all.forwarding"}


class Dut(Server):
    """A Linux router without rules; the kinds of devices derive from it.

    `endpoint.namespace`: the device's. A kind overrides `ruleset`, or `configure` if it is not a
    router. `settings.dut`: its settings in the experiment. `ip_versions`: supported IP versions.
    `backend_at`: where the server behind it listens; empty: at the address that clients connect to.
    """

    kernel_stack = False
    wiring: ClassVar[Wiring] = THROUGH_ROUTER
    reference = "dut/wire"
    passes_every_port = True
    takes_tls = True
    ip_versions: ClassVar[tuple[IpVersion, ...]] = (4, 6)
    backend_at: ClassVar[str] = ""

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        self.endpoint = endpoint
        self.settings = settings
        self.ip_version = settings.dut.ip_version
        self.wired = self.wiring_for(settings)
        self.backend = (
            make_backend(endpoint, settings, self.backend_at) if self.wired.server else None
        )

    @classmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """The device for an experiment; not configured yet."""
        return cls(endpoint, settings)

    @classmethod
    def lacks_version(cls, version: HttpVersion) -> str:
        """By the server behind it."""
        return server_class(BACKEND).lacks_version(version)

    @classmethod
    def lacks_resumption(cls) -> str:
        """By the server behind it."""
        return server_class(BACKEND).lacks_resumption()

    @classmethod
    def wiring_for(cls, settings: ServerSettings) -> Wiring:
        """The wiring of its kind, with a server's interface if there is a real server behind it."""
        cls.check_takes(settings.dut.ip_version)
        wiring = cls.wiring.over(cls.sides(settings.dut.ip_version))
        return wiring if settings.dut.server == "engine" else wiring.with_server()

    @classmethod
    def check_takes(cls, version: IpVersion) -> None:
        """StackcostError unless the device supports clients with this IP version."""
        if version not in cls.ip_versions:
            raise StackcostError(
                f"{cls.name} does not support IPv{version}", f"dut.ip_version: {cls.ip_versions[0]}"
            )

    @classmethod
    def sides(cls, version: IpVersion) -> tuple[IpVersion, IpVersion]:
        """The IP versions of clients' and servers' side if clients use `version`."""
        return version, version

    def start(self) -> None:
        """Configure it, load its ruleset, check that it forwards, start the server behind it."""
        self.configure()
        self.apply_rules()
        self.check_health()
        self.start_backend()

    def start_backend(self) -> None:
        """Start the server behind it, if there is one; its errors are passed on."""
        if self.backend:
            self.backend.start()

    def configure(self) -> None:
        """Set addresses, routes in both directions and forwarding in its own namespace.

        Neighbours are static, so that no ARP frames are counted.
        """
        loading = self.endpoint.neighbours or tuple(
            map(hardware_address, self.wired.generator_ends)
        )
        sides = zip(ROUTER_SIDES, loading, self.sides(self.ip_version), strict=True)
        for hop, beyond, version in sides:
            own, neighbour, network, bits = hop.addresses(version)
            if version == 6:
                self.enable_ipv6(hop.interface)
            self.ip(
                f"address replace {own}/{bits} dev {hop.interface}",
                f"neighbour replace {neighbour} lladdr {beyond} dev {hop.interface} nud permanent",
                f"route replace {network} via {neighbour}",
            )
            self.set_sysctl(FORWARDING[version], "1")
        self._route_to_gateways()
        if self.wired.server:
            self._fix_neighbour_of_backend()

    def _route_to_gateways(self) -> None:
        """Reach the clients of the generators after the first one, whose neighbours are static."""
        interface, version = ROUTER_SIDES[0].interface, self.sides(self.ip_version)[0]
        for each in self.endpoint.gateways:
            via = each.address if version == 4 else ipv6_of(each.address)
            self.ip(
                f"neighbour replace {via} lladdr {each.mac} dev {interface} nud permanent",
                *(
                    f"route replace {network if version == 4 else _over_ipv6(network)} via {via}"
                    for network in each.networks
                ),
            )

    def enable_ipv6(self, interface: str) -> None:
        """Turn IPv6 on, without link-local addresses, which would send frames."""
        if not Path("/proc/sys/net/ipv6").exists():
            raise StackcostError(
                f"{self.name} needs IPv6, but it is off in this kernel",
                "boot without ipv6.disable=1, or set dut.ip_version: 4",
            )
        quiet = {"addr_gen_mode": 1, "accept_dad": 0, "accept_ra": 0, "disable_ipv6": 0}
        for name, value in quiet.items():
            self.set_sysctl(f"net.ipv6.conf.{interface}.{name}", str(value))

    def _fix_neighbour_of_backend(self) -> None:
        """Also set the static neighbour in the kernel of the server behind it."""
        namespace, interface = self.wired.ends[-1]
        own = hardware_address(self.wired.tested[-1])
        line = f"neighbour replace {DUT_SERVER_ADDRESS} lladdr {own} dev {interface} nud permanent"
        execute(namespace, ["ip", *line.split()])

    def ruleset(self) -> str:
        """Its rules as `apply_rules` takes them; empty for none."""
        return ""

    def apply_rules(self) -> None:
        """Load `ruleset` with nft, in place of what was there. Its lines keep their numbers, which
        nft's errors name.
        """
        self.execute("nft", "-f", "-", stdin=f"flush ruleset; {self.ruleset()}")

    def check_health(self) -> None:
        """Check that its kernel would forward a client's frame to the server's side."""
        server, client = self.endpoint.address, CLIENT_ADDRESS
        if self.ip_version == 6:
            server, client = ipv6_of(server, SERVER_PREFIX), ipv6_of(client, CLIENT_PREFIX)
        self.check_way(server, client, DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE)

    def check_way(self, to: str, source: str, entered: str, leaves: str) -> None:
        """StackcostError unless its kernel forwards from one interface to the other."""
        way = self.execute("ip", "route", "get", to, "from", source, "iif", entered)
        if f"dev {leaves}" not in way:
            raise StackcostError(f"{self.name} does not forward to {to}: {way.strip()}")

    def response_length(self) -> int:
        """Bytes as probed from the server behind it; without one, as the experiment sets it."""
        return self.backend.response_length() if self.backend else self.settings.response_bytes

    def requests_served(self) -> int | None:
        """Counted by the server behind it; None without one."""
        return self.backend.requests_served() if self.backend else None

    def refusals(self) -> dict[str, int] | None:
        """Connections that the server behind it refused."""
        return self.backend.refusals() if self.backend else {}

    def processes(self) -> dict[str, int]:
        """The kernel threads that poll its interfaces; a router has no program."""
        return _poll_roles(self.interfaces)

    def depends_on(self) -> dict[str, int]:
        """The server behind it, and the threads that poll the server's interface."""
        if self.backend is None:
            return {}
        return self.backend.processes() | _poll_roles([self.wired.ends[-1].interface])

    @property
    def interfaces(self) -> Sequence[str]:
        """Collectors of its interfaces, the clients' side first."""
        return [end.interface for end in self.wired.tested]

    def own_collectors(self) -> list[Collector]:
        """What connection tracking did."""
        return [Tracking(self.endpoint.namespace)]

    def describe(self) -> dict[str, Any]:
        """Its kind, settings, rules and routes, for the manifest."""
        return {
            "name": self.name,
            "cpus": list(self.endpoint.cpus),
            "settings": self.settings.dut.model_dump(mode="json"),
            "ruleset": self.ruleset(),
            "routes": self.execute("ip", f"-{self.ip_version}", "route").splitlines(),
            "backend": self.backend.describe() if self.backend else None,
        }

    def congestion_control(self) -> str:
        """Of the generator behind it; empty with a server on the kernel's TCP, and for a proxy."""
        if self.backend or not self.passes_frames:
            return ""
        return engine_congestion_control(self.settings.profile)

    def stop(self) -> None:
        """Stop the server behind it; the device's configuration ends with its namespace."""
        if self.backend:
            self.backend.stop()

    def execute(self, *command: str, stdin: str = "") -> str:
        """Run a short command inside the device; returns what it printed."""
        return execute(self.endpoint.namespace, command, stdin)

    def ip(self, *lines: str) -> None:
        """Run commands of ip(8), one per line, inside the device."""
        self.execute("ip", "-batch", "-", stdin="\n".join(lines))

    def set_sysctl(self, name: str, value: str) -> None:
        """Set a sysctl of the device's own namespace."""
        self.execute("sysctl", "-q", "-w", f"{name}={value}")


def _over_ipv6(network: str) -> str:
    """The network of clients whose last 32 bits are these IPv4 addresses."""
    address, bits = network.split("/")
    return f"{ipv6_of(address, CLIENT_PREFIX)}/{96 + int(bits)}"


def _poll_roles(interfaces: Sequence[str]) -> dict[str, int]:
    """The kernel threads that poll these interfaces, by role."""
    threads = [thread for each in interfaces for thread in poll_threads(each)]
    return {f"{POLL_ROLE}-{number}": thread for number, thread in enumerate(threads)}


def make_backend(endpoint: Endpoint, settings: ServerSettings, address: str = "") -> Server:
    """nginx on the bed's cores for it, at `address` or else at the device's service address."""
    host = endpoint.upstream
    assert host is not None  # every test bed has one
    behind = replace(
        endpoint,
        namespace=host.namespace,
        interface=host.interface,
        address=address or endpoint.address,
        cpus=host.cpus,
        folder=endpoint.folder / "backend",
        upstream=None,
    )
    program = settings.program.model_copy(update={"workers": None})
    on_kernel = replace(behind, stack=Kernel(behind.placement()))
    return server_class(BACKEND).make(on_kernel, replace(settings, program=program))
