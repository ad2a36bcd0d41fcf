"""The addresses of a test bed, IPv4 and IPv6."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address
from typing import Literal, NamedTuple, Self

MOST = 50_000_000  # clients of one range; TRex has this limit, too
# RFC 6890 has the special ones; the last two are the bed's own links.
NOT_USABLE = {
    IPv4Network("0.0.0.0/8"): "which name no host",
    IPv4Network("127.0.0.0/8"): "which are loopback",
    IPv4Network("169.254.0.0/16"): "which are link-local",
    IPv4Network("224.0.0.0/4"): "which are multicast",
    IPv4Network("240.0.0.0/4"): "which are reserved, the last one for broadcast",
    IPv4Network("198.18.0.0/24"): "which are of the test bed's own links",
    IPv4Network("198.19.0.0/24"): "which are of the test bed's own links",
}


class AddressRange(NamedTuple):
    """From `first` to `last`, both included."""

    first: IPv4Address
    last: IPv4Address

    @classmethod
    def of(cls, text: str) -> Self:
        """From "16.0.0.1-16.0.0.200"; ValueError if it is no range."""
        first, dash, last = text.partition("-")
        if not dash:
            raise ValueError("a range has two ends, such as 16.0.0.1-16.0.0.200")
        return cls(IPv4Address(first.strip()), IPv4Address(last.strip()))

    @property
    def size(self) -> int:
        """How many addresses it has."""
        return int(self.last) - int(self.first) + 1

    def check(self) -> None:
        """ValueError if a test bed cannot have one of its addresses, or not so many."""
        if self.size < 1:
            raise ValueError("the first address of the range is higher than the last one")
        for network, what in NOT_USABLE.items():
            if self.first <= network.broadcast_address and network.network_address <= self.last:
                raise ValueError(
                    f"no host of a test bed can have addresses of {network}, {what}; "
                    "allowed are other unicast addresses, such as 16.0.0.1 and 48.0.0.1"
                )
        if self.size > MOST:
            raise ValueError(f"{self.size:,} addresses are more than the {MOST:,} of a generator")

    def __contains__(self, address: object) -> bool:
        return isinstance(address, IPv4Address) and self.first <= address <= self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"


SERVICE_ADDRESS = "48.0.0.1"  # what clients connect to
CLIENT_NETWORK = "16.0.0.0/8"
CLIENT_ADDRESS = "16.0.0.1"

# Benchmarking addresses, RFC 2544 appendix C.2.2: 198.18.0.0/15.
LOAD_ADDRESS = "198.18.0.1"
SERVER_ADDRESS = "198.18.0.2"
DUT_CLIENT_ADDRESS = "198.18.0.2"
DUT_SERVER_ADDRESS = "198.19.0.1"
BACKEND_ADDRESS = "198.19.0.2"

# IPv6's, RFC 5180 section 8: 2001:2::/48. The last 32 bits of an address are an IPv4 address.
CLIENT_PREFIX = "2001:2:0:16::"
SERVER_PREFIX = "2001:2:0:48::"
ROUTER_PREFIX = "2001:2::"


IpVersion = Literal[4, 6]


def load_address(number: int) -> str:
    """The address of one of several generators, from 0 on."""
    return str(IPv4Address(LOAD_ADDRESS) + (number + 9 if number else 0))


def ipv6_of(address: str, prefix: str = ROUTER_PREFIX) -> str:
    """The IPv6 address of 96 bits of `prefix` and an IPv4 address."""
    return str(IPv6Address(int(IPv6Address(prefix)) + int(IPv4Address(address))))
