"""Many client addresses on the load's end, for programs of the kernel's stack.

Which one a connection takes is a matter of the user number that its process runs under: each number
has a routing table of its own, whose one route names the source address (ip-rule(8), uidrange). So
programs that cannot choose their address get different ones in one namespace, at no cost but a
rule to look up at each connect.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address

from pyroute2 import IPRoute

from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.wiring import (
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
)
from stackcost.host.namespace import execute

FIRST_USER = 70_001  # above what systems give to people and services; nobody has to exist
FIRST_TABLE = 1001
# Whole port space but what is privileged, and the published settings of clients: a port in
# TIME_WAIT may be taken again after a second, and a connection's end is not waited for.
SETTINGS = {
    "net.ipv4.ip_local_port_range": "2000 65535",
    "net.ipv4.tcp_tw_reuse": "1",
    "net.ipv4.tcp_max_tw_buckets": "2000000",
}

CONGESTION_CONTROL = "net.ipv4.tcp_congestion_control"


@contextmanager
def client_addresses(addresses: Sequence[str], service_address: str) -> Iterator[None]:
    """Give the load's end these addresses, the n-th to user FIRST_USER + n; undone on exit.

    A generator before may have had them under another MAC address, so the server is made to ask
    again. Nothing may be attached to the interface by AF_XDP: it would swallow the answers.
    """
    execute(SERVER_NAMESPACE, ["ip", "neighbor", "flush", "dev", SERVER_INTERFACE])
    # What stands behind a server answers from here, and is to send as the server does.
    algorithm = execute(SERVER_NAMESPACE, ["sysctl", "-n", CONGESTION_CONTROL]).strip()
    for name, value in (SETTINGS | {CONGESTION_CONTROL: algorithm}).items():
        execute(LOAD_NAMESPACE, ["sysctl", "-q", "-w", f"{name}={value}"])
    with IPRoute(netns=LOAD_NAMESPACE) as network:
        index = network.link_lookup(ifname=LOAD_INTERFACE)[0]
        network.addr("replace", index=index, address=LOAD_ADDRESS, prefixlen=24)
        for at, address in enumerate(addresses):
            user, table = FIRST_USER + at, FIRST_TABLE + at
            network.addr("replace", index=index, address=address, prefixlen=32)
            network.route(
                "replace",
                dst=f"{service_address}/32",
                gateway=SERVER_ADDRESS,
                oif=index,
                prefsrc=address,
                table=table,
            )
            execute(
                LOAD_NAMESPACE,
                [*["ip", "rule", "add"], "uidrange", f"{user}-{user}", "lookup", str(table)],
            )
    try:
        yield
    finally:
        with IPRoute(netns=LOAD_NAMESPACE) as network:
            for at in range(len(addresses)):
                network.flush_rules(table=FIRST_TABLE + at)
            network.flush_addr(index=index)  # takes the routes with it


def addresses_of(first_to_last: str, count: int) -> tuple[str, ...]:
    """The first `count` addresses of a range; all of them when it has no more."""
    first, last = (int(IPv4Address(end.strip())) for end in first_to_last.split("-"))
    return tuple(str(IPv4Address(at)) for at in range(first, min(last + 1, first + count)))
