"""pasta (of passt), which Podman uses by default."""

from stackcost.contracts.addresses import LOAD_ADDRESS
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE
from stackcost.duts.rootless.base import BITS, GATEWAY, SERVER_AT, TAP, Rootless


class Pasta(Rootless):
    """It passes the Service's port only."""

    name = "dut/rootless_pasta"
    program, package = "pasta", "passt"

    def configure(self) -> None:
        """It takes the interface of the default route for the one outside."""
        super().configure()
        self.ip(f"route replace default via {LOAD_ADDRESS}")

    def command(self) -> list[str]:
        """In the foreground; `-t`: the port outside, and the same inside.

        Debian 12's pasta (2023-03-09) crashes at the first connection if an address is given too.
        """
        return [
            *("pasta", "--foreground", "--quiet", "--ipv4-only", "--config-net"),
            *("--interface", DUT_CLIENT_INTERFACE, "--ns-ifname", TAP),
            *("--address", SERVER_AT, "--netmask", str(BITS), "--gateway", GATEWAY),
            *("-t", str(self.endpoint.port), "-u", "none", "-T", "none", "-U", "none"),
            *("--runas", "0:0", "--netns", self.server_namespace),
        ]
