"""A device under test: a system under test that stands between the generator's two ports.

The generator is its clients and its servers. On this machine it is a network namespace with two
veth ends, whose receive work is done on cores of its own.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from harness.collect.tracking import Tracking
from harness.errors import StackcostError
from harness.model import Collector
from harness.testbed.namespace import execute
from harness.testbed.network import CLIENT_NETWORK, hardware_address
from harness.testbed.steering import poll_threads
from harness.testbed.wiring import (
    BEHIND_DUT_ADDRESS,
    DUT_CLIENT_ADDRESS,
    DUT_CLIENT_INTERFACE,
    DUT_SERVER_ADDRESS,
    DUT_SERVER_INTERFACE,
    LOAD_ADDRESS,
    THROUGH_ROUTER,
    Wiring,
)
from servers.base import Endpoint, Server, Task

SERVER_NETWORK = "48.0.0.0/8"
HOP_PREFIX = 24  # prefix length of the networks between the device and the generator's ports


class Dut(Server):
    """A Linux router without a rule; kinds add to it what makes them what they are.

    `endpoint.namespace`: the device's. A kind overrides `ruleset`, or `configure` when it is no
    router. `task.dut`: what the experiment sets of it.
    """

    kernel_stack = False
    wiring: ClassVar[Wiring] = THROUGH_ROUTER
    twin = "dut/wire"

    def __init__(self, endpoint: Endpoint, task: Task):
        self.endpoint = endpoint
        self.task = task

    @classmethod
    def make(cls, endpoint: Endpoint, task: Task) -> Self:
        """The device for an experiment; not configured yet."""
        return cls(endpoint, task)

    def start(self) -> None:
        """Configure it, replace its ruleset, and see that it forwards."""
        self.configure()
        self.execute("nft", "-f", "-", stdin=f"flush ruleset\n{self.ruleset()}")
        self.check_health()

    def configure(self) -> None:
        """Addresses, routes both ways, forwarding: all in its own namespace.

        Neighbours are fixed, so that no frame of ARP is among those that are counted.
        """
        near, far = DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE
        clients, servers = (hardware_address(end) for end in self.wiring.loading)
        self.ip(
            f"address replace {DUT_CLIENT_ADDRESS}/{HOP_PREFIX} dev {near}",
            f"address replace {DUT_SERVER_ADDRESS}/{HOP_PREFIX} dev {far}",
            f"route replace {CLIENT_NETWORK} via {LOAD_ADDRESS}",
            f"route replace {SERVER_NETWORK} via {BEHIND_DUT_ADDRESS}",
            f"neighbour replace {LOAD_ADDRESS} lladdr {clients} dev {near} nud permanent",
            f"neighbour replace {BEHIND_DUT_ADDRESS} lladdr {servers} dev {far} nud permanent",
        )
        self.set_sysctl("net.ipv4.ip_forward", "1")

    def ruleset(self) -> str:
        """What nft loads; empty for none."""
        return ""

    def check_health(self) -> None:
        """Its kernel would send a client's frame on to the server's side."""
        command = f"route get {self.endpoint.address} from 16.0.0.1 iif {DUT_CLIENT_INTERFACE}"
        way = self.execute("ip", *command.split())
        if f"dev {DUT_SERVER_INTERFACE}" not in way:
            raise StackcostError(
                f"{self.name} does not forward to {self.endpoint.address}: {way.strip()}"
            )

    def response_length(self) -> int:
        """As the experiment asks: the generator is the server, too."""
        return self.task.response_bytes

    def processes(self) -> dict[str, int]:
        """The kernel threads that poll its links; it has no program of its own."""
        threads = [t for each in self.interfaces for t in poll_threads(each)]
        return {f"receive-poll-{number}": thread for number, thread in enumerate(threads)}

    @property
    def interfaces(self) -> Sequence[str]:
        """Its links, the clients' side first."""
        return [end.interface for end in self.wiring.tested]

    def own_collectors(self) -> list[Collector]:
        """What connection tracking did."""
        return [Tracking(self.endpoint.namespace)]

    def describe(self) -> dict[str, Any]:
        """Its kind, settings, rules and routes."""
        return {
            "name": self.name,
            "cpus": list(self.endpoint.cpus),
            "settings": self.task.dut.model_dump(mode="json"),
            "ruleset": self.ruleset(),
            "routes": self.execute("ip", "route").splitlines(),
        }

    def stop(self) -> None:
        """Nothing runs: its configuration goes with its namespace."""
        return

    def execute(self, *command: str, stdin: str = "") -> str:
        """Run a short command inside the device; returns what it printed."""
        return execute(self.endpoint.namespace, command, stdin)

    def ip(self, *lines: str) -> None:
        """Commands of ip(8), one a line, inside the device."""
        self.execute("ip", "-batch", "-", stdin="\n".join(lines))

    def set_sysctl(self, name: str, value: str) -> None:
        """One setting of the device's own namespace."""
        self.execute("sysctl", "-q", "-w", f"{name}={value}")
