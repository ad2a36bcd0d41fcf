"""The network of a container host: a bridge, and iptables' rules around it."""

from pathlib import Path

from stackcost.contracts.addresses import (
    BACKEND_ADDRESS,
    CLIENT_ADDRESS,
    DUT_SERVER_ADDRESS,
)
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE
from stackcost.duts.tracking import TrackingDut

BRIDGE = "sc-bridge0"
NETWORK = "198.19.0.0/24"
FILTER_BRIDGED = "net.bridge.bridge-nf-call-iptables"
# The rules of a Docker host with one published port (docs.docker.com, "Packet filtering and
# firewalls"; chains of version 24).
RULESET = """*nat
:DOCKER - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
-A POSTROUTING -s {network} ! -o {bridge} -j MASQUERADE
-A POSTROUTING -s {server}/32 -d {server}/32 -p tcp -m tcp --dport {port} -j MASQUERADE
-A DOCKER -i {bridge} -j RETURN
-A DOCKER ! -i {bridge} -p tcp -m tcp --dport {port} -j DNAT --to-destination {server}:{port}
COMMIT
*filter
:FORWARD DROP [0:0]
:DOCKER - [0:0]
:DOCKER-ISOLATION-STAGE-1 - [0:0]
:DOCKER-ISOLATION-STAGE-2 - [0:0]
:DOCKER-USER - [0:0]
-A FORWARD -j DOCKER-USER
-A FORWARD -j DOCKER-ISOLATION-STAGE-1
-A FORWARD -o {bridge} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -o {bridge} -j DOCKER
-A FORWARD -i {bridge} ! -o {bridge} -j ACCEPT
-A FORWARD -i {bridge} -o {bridge} -j ACCEPT
-A DOCKER -d {server}/32 ! -i {bridge} -o {bridge} -p tcp -m tcp --dport {port} -j ACCEPT
-A DOCKER-ISOLATION-STAGE-1 -i {bridge} ! -o {bridge} -j DOCKER-ISOLATION-STAGE-2
-A DOCKER-ISOLATION-STAGE-1 -j RETURN
-A DOCKER-ISOLATION-STAGE-2 -o {bridge} -j DROP
-A DOCKER-ISOLATION-STAGE-2 -j RETURN
-A DOCKER-USER -j RETURN
COMMIT
"""


class ContainerBridge(TrackingDut):
    """The server is the container: its link is a port of the bridge, its port is published."""

    name = "dut/container_bridge"
    ip_versions = (4,)
    passes_every_port = False
    backend_at = BACKEND_ADDRESS

    def configure(self) -> None:
        """Put the server's link on a bridge that has the host's address in its network."""
        super().configure()
        neighbour = self.execute("ip", "neighbour", "show", BACKEND_ADDRESS).split()
        address = neighbour[neighbour.index("lladdr") + 1]
        self.ip(
            f"link add {BRIDGE} type bridge stp_state 0",
            f"address delete {DUT_SERVER_ADDRESS}/24 dev {DUT_SERVER_INTERFACE}",
            f"link set {DUT_SERVER_INTERFACE} master {BRIDGE}",
            f"address replace {DUT_SERVER_ADDRESS}/24 dev {BRIDGE}",
            f"link set {BRIDGE} up",
            f"neighbour replace {BACKEND_ADDRESS} lladdr {address} dev {BRIDGE} nud permanent",
            f"address replace {self.endpoint.address}/32 dev {DUT_CLIENT_INTERFACE}",
        )
        if not Path("/proc/sys", *FILTER_BRIDGED.split(".")).exists():
            raise StackcostError(
                f"{self.name} needs br_netfilter, but there is no {FILTER_BRIDGED}",
                "run: modprobe br_netfilter; the kernel needs CONFIG_BRIDGE_NETFILTER",
            )
        self.set_sysctl(FILTER_BRIDGED, "1")

    def ruleset(self) -> str:
        """What `iptables-restore` reads."""
        return RULESET.format(
            network=NETWORK, bridge=BRIDGE, server=BACKEND_ADDRESS, port=self.endpoint.port
        )

    def apply_rules(self) -> None:
        """Load them in one step."""
        self.execute("nft", "flush", "ruleset")
        self.execute("iptables-nft-restore", stdin=self.ruleset())

    def check_health(self) -> None:
        """Check that a client's frame, once translated, leaves by the bridge."""
        self.check_way(BACKEND_ADDRESS, CLIENT_ADDRESS, DUT_CLIENT_INTERFACE, BRIDGE)
