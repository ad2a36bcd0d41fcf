"""Whose the frames to clients are: the kernel's, as the client of a server, or the generator's."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyroute2 import IPRoute

from stackcost.contracts.addresses import (
    CLIENT_ADDRESS,
    LOAD_ADDRESS,
    SERVER_ADDRESS,
    SERVICE_ADDRESS,
)
from stackcost.contracts.wiring import (
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
)
from stackcost.host.namespace import NAMESPACE_FOLDER, execute

TABLE = "table netdev stackcost"
NO_TABLE = f"{TABLE}\ndelete {TABLE}\n"  # whether or not it is there


def leave_to_generator(interfaces: Sequence[str], clients: str) -> None:
    """Drop frames to these addresses on their way from the load's interfaces to the kernel's IP.

    Packet sockets have received them by then (__netif_receive_skb_core in net/core/dev.c). Without
    this, IP looks up a route for each frame of the generator's, and finds none.
    """
    rule = f"{'ip6' if ':' in clients else 'ip'} daddr {clients} drop"
    chains = "\n".join(
        f'chain {each} {{ type filter hook ingress device "{each}" priority 0; {rule}; }}'
        for each in interfaces
    )
    execute(LOAD_NAMESPACE, ["nft", "-f", "-"], stdin=f"{NO_TABLE}{TABLE} {{\n{chains}\n}}")


@contextmanager
def kernel_client(service_address: str = SERVICE_ADDRESS) -> Iterator[None]:
    """Use the kernel's stack as the client for a while, before the generator attaches.

    Programs in the load's namespace then reach the server from 16.0.0.1. An AF_XDP socket on the
    interface would take the replies. An earlier generator may have used the address with another
    MAC address, so the server's neighbour table is flushed, and `leave_to_generator` is undone.
    """
    if (NAMESPACE_FOLDER / SERVER_NAMESPACE).exists():  # else it is on another host
        execute(SERVER_NAMESPACE, ["ip", "neighbor", "flush", "dev", SERVER_INTERFACE])
        execute(LOAD_NAMESPACE, ["nft", "-f", "-"], stdin=NO_TABLE)
    # ARP asks from the link's own address, because smoltcp answers no other network's.
    setting = f"/proc/sys/net/ipv4/conf/{LOAD_INTERFACE}/arp_announce"
    execute(LOAD_NAMESPACE, ["tee", setting], stdin="1")
    with IPRoute(netns=LOAD_NAMESPACE) as network:
        index = network.link_lookup(ifname=LOAD_INTERFACE)[0]
        network.addr("replace", index=index, address=LOAD_ADDRESS, prefixlen=24)
        network.addr("replace", index=index, address=CLIENT_ADDRESS, prefixlen=32)
        network.route(
            "replace", dst=f"{service_address}/32", gateway=SERVER_ADDRESS, prefsrc=CLIENT_ADDRESS
        )
    try:
        yield
    finally:
        with IPRoute(netns=LOAD_NAMESPACE) as network:
            network.flush_addr(index=index)  # takes the route with it
