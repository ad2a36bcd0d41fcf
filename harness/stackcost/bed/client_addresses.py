"""Many client addresses on the load's interface, for programs on the kernel's stack.

The user id of a process decides which address its connections use: each user id has its own routing
table, whose only route names the source address (ip-rule(8), uidrange). So programs that cannot
choose their address get different addresses in one namespace. The only cost is one rule lookup for
each connect.

Onload looks routes up without the user id. So the main table has a route too, with the first of the
addresses; without it Onload would leave each connection to the kernel.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address

from pyroute2 import IPRoute

from stackcost.contracts.addresses import LOAD_ADDRESS
from stackcost.contracts.tuning import CONGESTION_CONTROL
from stackcost.contracts.wiring import LOAD_INTERFACE, LOAD_NAMESPACE, TO_SERVER, Wiring
from stackcost.host.namespace import execute

FIRST_USER = 70_001  # above the ids of real users and services; the user need not exist
FIRST_TABLE = 1001
MAIN = 254  # RT_TABLE_MAIN of linux/rtnetlink.h
# All ports that are not privileged, and the published client settings: a port in TIME_WAIT can be
# reused after one second, and the number of TIME_WAIT sockets is no limit.
SETTINGS = {
    "net.ipv4.ip_local_port_range": "2000 65535",
    "net.ipv4.tcp_tw_reuse": "1",
    "net.ipv4.tcp_max_tw_buckets": "2000000",
}


@contextmanager
def client_addresses(
    addresses: Sequence[str], service_address: str, wiring: Wiring = TO_SERVER
) -> Iterator[None]:
    """Add these addresses to the load's interface, the n-th for user FIRST_USER + n; undo on exit.

    `wiring`: of the bed; clients send to what is next to them, a server or a device. An earlier
    generator may have used the addresses with another MAC address, so the neighbour table there is
    flushed. No AF_XDP socket may be attached to the interface: it would take the replies.
    """
    beside = wiring.links[0].far
    execute(beside.namespace, ["ip", "neighbor", "flush", "dev", beside.interface])
    # A backend of the server runs in this namespace and must use the server's congestion control.
    algorithm = execute(wiring.serving, ["sysctl", "-n", CONGESTION_CONTROL]).strip()
    for name, value in (SETTINGS | {CONGESTION_CONTROL: algorithm}).items():
        execute(LOAD_NAMESPACE, ["sysctl", "-q", "-w", f"{name}={value}"])
    with IPRoute(netns=LOAD_NAMESPACE) as network:
        index = network.link_lookup(ifname=LOAD_INTERFACE)[0]
        network.addr("replace", index=index, address=LOAD_ADDRESS, prefixlen=24)

        def add_route(source: str, table: int) -> None:
            network.route(
                "replace",
                dst=f"{service_address}/32",
                gateway=wiring.ports[0].gateway,
                oif=index,
                prefsrc=source,
                table=table,
            )

        for at, address in enumerate(addresses):
            user, table = FIRST_USER + at, FIRST_TABLE + at
            network.addr("replace", index=index, address=address, prefixlen=32)
            add_route(address, table)
            execute(
                LOAD_NAMESPACE,
                [*["ip", "rule", "add"], "uidrange", f"{user}-{user}", "lookup", str(table)],
            )
        add_route(addresses[0], MAIN)
    try:
        yield
    finally:
        with IPRoute(netns=LOAD_NAMESPACE) as network:
            for at in range(len(addresses)):
                network.flush_rules(table=FIRST_TABLE + at)
            network.flush_addr(index=index)  # takes the routes with it


def addresses_of(first_to_last: str, count: int) -> tuple[str, ...]:
    """The first `count` addresses of a range; all of them if the range has fewer."""
    first, last = (int(IPv4Address(end.strip())) for end in first_to_last.split("-"))
    return tuple(str(IPv4Address(at)) for at in range(first, min(last + 1, first + count)))
