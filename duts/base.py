"""A device under test: a system under test that stands between the generator's two ports.

The generator is its clients and its servers. On this machine it is a network namespace with two
veth ends, whose receive work is done on cores of its own.
"""

from collections.abc import Sequence
from dataclasses import replace
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
from servers.nginx_kernel import NginxKernel

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
        self.wired = self.wiring_for(task)
        self.behind = server_behind(endpoint, task) if self.wired.server else None

    @classmethod
    def make(cls, endpoint: Endpoint, task: Task) -> Self:
        """The device for an experiment; not configured yet."""
        return cls(endpoint, task)

    @classmethod
    def wiring_for(cls, task: Task) -> Wiring:
        """That of its kind, with a server's end when a real one stands behind the device."""
        return cls.wiring if task.dut.server == "engine" else cls.wiring.with_server()

    def start(self) -> None:
        """Configure it, replace its ruleset, see that it forwards, start what is behind it."""
        self.configure()
        self.execute("nft", "-f", "-", stdin=f"flush ruleset\n{self.ruleset()}")
        self.check_health()
        self.start_behind()

    def start_behind(self) -> None:
        """Start the server behind it, if there is one; it says in its own words when it fails."""
        if self.behind:
            self.behind.start()

    def configure(self) -> None:
        """Addresses, routes both ways, forwarding: all in its own namespace.

        Neighbours are fixed, so that no frame of ARP is among those that are counted.
        """
        near, far = DUT_CLIENT_INTERFACE, DUT_SERVER_INTERFACE
        clients, servers = (hardware_address(end) for end in self.wired.loading)
        self.ip(
            f"address replace {DUT_CLIENT_ADDRESS}/{HOP_PREFIX} dev {near}",
            f"address replace {DUT_SERVER_ADDRESS}/{HOP_PREFIX} dev {far}",
            f"route replace {CLIENT_NETWORK} via {LOAD_ADDRESS}",
            f"route replace {SERVER_NETWORK} via {BEHIND_DUT_ADDRESS}",
            f"neighbour replace {LOAD_ADDRESS} lladdr {clients} dev {near} nud permanent",
            f"neighbour replace {BEHIND_DUT_ADDRESS} lladdr {servers} dev {far} nud permanent",
        )
        if self.wired.server:
            self._fix_neighbour_behind()
        self.set_sysctl("net.ipv4.ip_forward", "1")

    def _fix_neighbour_behind(self) -> None:
        """The kernel of the server behind it knows it, too."""
        namespace, interface = self.wired.ends[-1]
        own = hardware_address(self.wired.tested[-1])
        line = f"neighbour replace {DUT_SERVER_ADDRESS} lladdr {own} dev {interface} nud permanent"
        execute(namespace, ["ip", *line.split()])

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
        """As probed from the server behind it; the generator sends what the experiment asks."""
        return self.behind.response_length() if self.behind else self.task.response_bytes

    def requests_served(self) -> int | None:
        """By the own account of the server behind it; None of the generator."""
        return self.behind.requests_served() if self.behind else None

    def refusals(self) -> dict[str, int] | None:
        """Connections that the server behind it turned away."""
        return self.behind.refusals() if self.behind else {}

    def processes(self) -> dict[str, int]:
        """The kernel threads that poll its links; it has no program of its own."""
        threads = [t for each in self.interfaces for t in poll_threads(each)]
        return {f"receive-poll-{number}": thread for number, thread in enumerate(threads)}

    @property
    def interfaces(self) -> Sequence[str]:
        """Its links, the clients' side first."""
        return [end.interface for end in self.wired.tested]

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
            "behind": self.behind.describe() if self.behind else None,
        }

    def stop(self) -> None:
        """Of it nothing runs, and its configuration goes with its namespace; behind it may be."""
        if self.behind:
            self.behind.stop()

    def execute(self, *command: str, stdin: str = "") -> str:
        """Run a short command inside the device; returns what it printed."""
        return execute(self.endpoint.namespace, command, stdin)

    def ip(self, *lines: str) -> None:
        """Commands of ip(8), one a line, inside the device."""
        self.execute("ip", "-batch", "-", stdin="\n".join(lines))

    def set_sysctl(self, name: str, value: str) -> None:
        """One setting of the device's own namespace."""
        self.execute("sysctl", "-q", "-w", f"{name}={value}")


def server_behind(endpoint: Endpoint, task: Task) -> NginxKernel:
    """nginx with the device's service address; its cores are the generator's, not the device's."""
    host = endpoint.upstream
    assert host is not None  # every test bed has one
    behind = replace(
        endpoint,
        namespace=host.namespace,
        interface=host.interface,
        cpus=host.cpus,
        folder=endpoint.folder / "behind",
        stack=None,
        upstream=None,
    )
    return NginxKernel.make(behind, replace(task, workers=None))
