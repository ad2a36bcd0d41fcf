"""The two sides of a router: its addresses and what is behind them, in both IP versions."""

from typing import NamedTuple

from stackcost.contracts.addresses import (
    BACKEND_ADDRESS,
    CLIENT_NETWORK,
    CLIENT_PREFIX,
    DUT_CLIENT_ADDRESS,
    DUT_SERVER_ADDRESS,
    LOAD_ADDRESS,
    SERVER_PREFIX,
    IpVersion,
    ipv6_of,
)
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE

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
