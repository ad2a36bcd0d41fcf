"""The kernel's stack as the client of a server, before the generator takes the load's end."""

from collections.abc import Iterator
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
from stackcost.host.namespace import execute


@contextmanager
def kernel_client(service_address: str = SERVICE_ADDRESS) -> Iterator[None]:
    """Let the kernel's stack be the client for a while, before the generator takes the load's end.

    Programs in the load's namespace then reach the server from 16.0.0.1. Anything attached to the
    interface by AF_XDP would swallow the answers. A generator before may have had the address under
    another MAC address, so the server is made to ask again.
    """
    execute(SERVER_NAMESPACE, ["ip", "neighbor", "flush", "dev", SERVER_INTERFACE])
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
