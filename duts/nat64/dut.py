"""NAT64 by tayga, a program behind a TUN interface of the router (RFC 7915, RFC 6052)."""

from typing import Any

from stackcost.contracts.addresses import (
    CLIENT_ADDRESS,
    CLIENT_PREFIX,
    SERVER_PREFIX,
    IpVersion,
    ipv6_of,
)
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE
from stackcost.duts.base import Dut
from stackcost.host.namespace import spawner
from stackcost.host.program import Program

INTERFACE = "sc-nat64"
POOL = "10.64.0.0/16"
OWN_ADDRESS = "10.64.0.1"  # source address of its own ICMP messages
CONFIGURATION = f"""tun-device {INTERFACE}
ipv4-addr {OWN_ADDRESS}
prefix {SERVER_PREFIX}/96
dynamic-pool {POOL}
"""
STOP_TIMEOUT_S = 2.0


class Nat64(Dut):
    """Stateless NAT64: each frame is translated separately, and no connection is tracked.

    Servers' IPv6 addresses consist of a 96-bit prefix and their IPv4 address, which the program
    extracts. It gives each client an address of a pool at its first frame.
    """

    name = "dut/nat64"
    ip_versions = (6,)
    passes_every_port = False

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self.log = endpoint.folder / "tayga.log"
        self._program = Program("tayga", self.log)

    @classmethod
    def sides(cls, version: IpVersion) -> tuple[IpVersion, IpVersion]:
        """Servers always use IPv4."""
        return version, 4

    def start(self) -> None:
        """Configure it and its program, and see that it forwards."""
        try:
            super().start()
        except BaseException:
            self.stop()
            raise

    def configure(self) -> None:
        """Configure a router whose routes to the servers and back lead through the program."""
        super().configure()
        self._begin()
        self._wait_until_up()
        self.enable_ipv6(INTERFACE)
        self.ip(
            f"link set {INTERFACE} up",
            f"route replace {SERVER_PREFIX}/96 dev {INTERFACE}",
            f"route replace {POOL} dev {INTERFACE}",
        )

    def check_health(self) -> None:
        """Check that both directions lead to the program, and from it to the other side."""
        server, client = self.endpoint.address, ipv6_of(CLIENT_ADDRESS, CLIENT_PREFIX)
        self.check_way(ipv6_of(server, SERVER_PREFIX), client, DUT_CLIENT_INTERFACE, INTERFACE)
        self.check_way(server, OWN_ADDRESS, INTERFACE, DUT_SERVER_INTERFACE)

    def processes(self) -> dict[str, int]:
        """The program, and the threads that poll the interfaces."""
        number = self._program.process_id
        return super().processes() | ({} if number is None else {"translator": number})

    def describe(self) -> dict[str, Any]:
        """The description of a device, with the program's configuration."""
        return super().describe() | {"configuration": CONFIGURATION}

    def stop(self) -> None:
        """End the program, which also removes its interface."""
        super().stop()
        self._program.end(STOP_TIMEOUT_S)

    def _begin(self) -> None:
        where = self.endpoint
        where.folder.mkdir(parents=True, exist_ok=True)
        file = where.folder / "tayga.conf"
        file.write_text(f"{CONFIGURATION}data-dir {where.folder}\n")
        command = ["tayga", "-d", "--config", str(file)]
        self._program.start(spawner(where.namespace, where.cpus), command, cwd=where.folder)

    def _wait_until_up(self) -> None:
        if not self._program.wait_until_up(self._has_interface):
            words = self._program.output().strip().splitlines() or ["it printed nothing"]
            raise StackcostError(
                f"tayga did not create the interface {INTERFACE}: {words[-1]}",
                "it needs /dev/net/tun; run: modprobe tun",
            )

    def _has_interface(self) -> bool:
        return f" {INTERFACE}:" in self.execute("ip", "-oneline", "link")
