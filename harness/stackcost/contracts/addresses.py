"""The addresses of a test bed, IPv4 and IPv6."""

from ipaddress import IPv4Address, IPv6Address
from typing import Literal

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
