"""The links of a test bed, and the generator's ports on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from stackcost.contracts.addresses import (
    BACKEND_ADDRESS,
    DUT_CLIENT_ADDRESS,
    DUT_SERVER_ADDRESS,
    LOAD_ADDRESS,
    SERVER_ADDRESS,
    IpVersion,
    ipv6_of,
    load_address,
)

NAMESPACE_PREFIX = "stackcost-"  # of all, so that a start and `stackcost clean` find them
LOAD_NAMESPACE = f"{NAMESPACE_PREFIX}load"
SERVER_NAMESPACE = f"{NAMESPACE_PREFIX}server"
DUT_NAMESPACE = f"{NAMESPACE_PREFIX}dut"
SWITCH_NAMESPACE = f"{NAMESPACE_PREFIX}switch"

GUEST_PRODUCT = "stackcost guest"  # the product's name that a guest machine is started with

LINK_PREFIX = "sc-"
LOAD_INTERFACE = "sc-load0"  # of the first generator
SERVER_INTERFACE = "sc-server0"
DUT_CLIENT_INTERFACE = "sc-dut0"
DUT_SERVER_INTERFACE = "sc-dut1"
SWITCH_BRIDGE = "sc-switch"
SWITCH_UPLINK = "sc-uplink"


Side = Literal["load", "server"]
Backend = Literal["engine", "nginx"]  # a device's server: the generator's, or nginx on the kernel


class End(NamedTuple):
    """One end of a veth pair."""

    namespace: str
    interface: str


class Link(NamedTuple):
    """A veth pair: the end nearer to the clients, and the other."""

    near: End
    far: End


@dataclass(frozen=True, slots=True)
class Port:
    """One port of an ASTF server. Ports go in pairs: even ones are clients, odd ones servers.

    `interface`: a Linux interface's name, a PCI address, "--vdev=..." with DPDK's arguments, or
    "dummy" for a side that is not used; astf-engine alone knows "wire", on both ports of a pair,
    and "packet:" before a Linux interface (docs/architecture.md, "Ports").
    `address`, `gateway`: the port answers ARP for the first and resolves the second. Both IPv4, or
    for astf-engine both IPv6: neighbour solicitations take the place of ARP.
    """

    interface: str
    address: str = ""
    gateway: str = ""


@dataclass(frozen=True, slots=True)
class Wiring:
    """One form of test bed.

    `words`: for the manifest. `namespace`: the one of the system under test. `tested`: ends that
    are the system's under test, whose receive work is done on its cores; all others are the
    generator's. `ports`: the generator's ports, client's side and server's side. `server`: the
    end of a server on the kernel's stack behind a device, None where the generator is the server.
    """

    words: str
    namespace: str
    links: tuple[Link, ...]
    tested: tuple[End, ...]
    ports: tuple[Port, Port]
    server: Port | None = None

    @property
    def ends(self) -> tuple[End, ...]:
        """All ends, from the clients on."""
        return tuple(end for link in self.links for end in link)

    @property
    def generator_ends(self) -> tuple[End, ...]:
        """The ends that the generator is attached to."""
        return tuple(end for end in self.ends if end not in self.tested)

    @property
    def serving(self) -> str:
        """The namespace in which connections of the load end, if a kernel's stack is their end."""
        return SERVER_NAMESPACE if self.server else self.namespace

    def links_for(self, generators: int) -> tuple[Link, ...]:
        """The links if so many generators reach the system over a switch."""
        if generators == 1:
            return self.links
        first, *others = self.links
        ports = (
            Link(load_end(at), End(SWITCH_NAMESPACE, f"{LINK_PREFIX}port{at}"))
            for at in range(generators)
        )
        return (*ports, Link(End(SWITCH_NAMESPACE, SWITCH_UPLINK), first.far), *others)

    def ports_of(self, number: int, interface: str) -> tuple[Port, Port]:
        """The ports of one generator, the clients' on `interface`.

        The first generator, 0, has those of a single one. The others only have clients.
        """
        if number == 0:
            return self.ports
        first, address = self.ports[0], load_address(number)
        own = ipv6_of(address) if ":" in first.address else address
        return Port(interface, own, first.gateway), Port("dummy")

    def part(self, side: Side) -> tuple[End, ...]:
        """The ends of one side, in order."""
        return self.tested if side == "server" else self.generator_ends

    def over(self, versions: "Sequence[IpVersion]") -> "Wiring":
        """This wiring with ports of these IP versions, the clients' side first."""
        clients, servers = (
            port if version == 4 else _over_ipv6(port)
            for port, version in zip(self.ports, versions, strict=True)
        )
        return replace(self, ports=(clients, servers))

    def with_server(self) -> "Wiring":
        """This wiring with a server on the kernel's stack in place of the generator's server."""
        last = self.links[-1]
        return replace(
            self,
            words=f"{self.words}; behind it a server in a separate network namespace",
            links=(*self.links[:-1], Link(last.near, _SERVER)),
            ports=(self.ports[0], Port("dummy")),
            server=self.ports[1],
        )


def is_virtual_device(port: str) -> bool:
    """Whether a port is a device that DPDK makes, by its name and arguments: net_vhost0,iface=/s.

    It is no interface of Linux and has no MAC address before a generator makes it.
    """
    return port.startswith("net_") and "," in port


def load_end(number: int) -> End:
    """The end of one of several generators on one machine, from 0 on."""
    return End(LOAD_NAMESPACE, f"{LINK_PREFIX}load{number}")


def _over_ipv6(port: Port) -> Port:
    return replace(port, address=ipv6_of(port.address), gateway=ipv6_of(port.gateway))


_CLIENTS = load_end(0)
_SERVERS = End(LOAD_NAMESPACE, SERVER_INTERFACE)
_SERVER = End(SERVER_NAMESPACE, SERVER_INTERFACE)
_DUT_NEAR = End(DUT_NAMESPACE, DUT_CLIENT_INTERFACE)
_DUT_FAR = End(DUT_NAMESPACE, DUT_SERVER_INTERFACE)
_THROUGH = (Link(_CLIENTS, _DUT_NEAR), Link(_DUT_FAR, _SERVERS))
_NEIGHBOURS = (
    Port(LOAD_INTERFACE, LOAD_ADDRESS, SERVER_ADDRESS),
    Port(SERVER_INTERFACE, SERVER_ADDRESS, LOAD_ADDRESS),
)

TO_SERVER = Wiring(
    "veth pair between two network namespaces of one machine",
    SERVER_NAMESPACE,
    (Link(_CLIENTS, _SERVER),),
    (_SERVER,),
    (_NEIGHBOURS[0], Port("dummy")),
)
THROUGH_ROUTER = Wiring(
    "two veth pairs from a generator's two ports to a router in a separate network namespace",
    DUT_NAMESPACE,
    _THROUGH,
    (_DUT_NEAR, _DUT_FAR),
    (
        Port(LOAD_INTERFACE, LOAD_ADDRESS, DUT_CLIENT_ADDRESS),
        Port(SERVER_INTERFACE, BACKEND_ADDRESS, DUT_SERVER_ADDRESS),
    ),
)
THROUGH_BRIDGE = Wiring(
    "two veth pairs from a generator's two ports to a bridge in a separate network namespace",
    DUT_NAMESPACE,
    _THROUGH,
    (_DUT_NEAR, _DUT_FAR),
    _NEIGHBOURS,
)
BACK_TO_BACK = Wiring(
    "veth pair between a generator's two ports, with no device between them",
    LOAD_NAMESPACE,
    (Link(_CLIENTS, _SERVERS),),
    (),
    _NEIGHBOURS,
)
