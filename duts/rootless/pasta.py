"""pasta (of passt), which Podman uses by default."""

import socket

from pyroute2 import netns

from stackcost.contracts.addresses import LOAD_ADDRESS
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE
from stackcost.host.namespace import execute
from stackcost.host.waiting import wait_until

from .base import BITS, GATEWAY, SERVER_AT, TAP, Rootless

TIMEOUT_S = 5.0
DISCARD = 9  # the port of a service that answers nothing (RFC 863)


class Pasta(Rootless):
    """pasta, which passes the Service's port only."""

    name = "dut/rootless_pasta"
    program, package = "pasta", "passt"

    def configure(self) -> None:
        """Set the default route: pasta takes its interface for the one outside."""
        super().configure()
        self.ip(f"route replace default via {LOAD_ADDRESS}")

    def command(self) -> list[str]:
        """In the foreground; `-t`: the port outside, and the same inside.

        Debian 12's pasta (2023-03-09) crashed once when an address was given before the port.
        """
        return [
            *("pasta", "--foreground", "--quiet", "--ipv4-only", "--config-net"),
            *("--interface", DUT_CLIENT_INTERFACE, "--ns-ifname", TAP),
            *("--address", SERVER_AT, "--netmask", str(BITS), "--gateway", GATEWAY),
            *("-t", str(self.endpoint.port), "-u", "none", "-T", "none", "-U", "none"),
            *("--runas", "0:0", "--netns", self.server_namespace),
        ]

    def wait_until_up(self) -> bool:
        """Have the server's kernel send a frame first, from which pasta learns its MAC address.

        Elsewhere the solicitations of IPv6 do so, which is off here.
        """
        if wait_until(self._has_route, TIMEOUT_S):
            family, kind = socket.AF_INET, socket.SOCK_DGRAM
            with netns.create_socket(self.wired.serving, family, kind) as frames:
                frames.sendto(b"", (GATEWAY, DISCARD))
        return super().wait_until_up()

    def _has_route(self) -> bool:
        return f"default via {GATEWAY}" in execute(self.wired.serving, ["ip", "route"])
