"""The test bed on one machine: generator and system under test in namespaces, joined by veths."""

import os
import struct
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from stackcost.bed import hugepages, network
from stackcost.bed.interfaces import check_queues, take_interfaces
from stackcost.bed.leftovers import undo_and_report
from stackcost.bed.lock import RunLock
from stackcost.contracts.addresses import CLIENT_NETWORK, LOAD_ADDRESS, SERVICE_ADDRESS
from stackcost.contracts.endpoint import ClientGateway, Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import BackendPlace, Placement
from stackcost.contracts.wiring import (
    DUT_NAMESPACE,
    LOAD_INTERFACE,
    LOAD_NAMESPACE,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
    TO_SERVER,
    End,
    Side,
    Wiring,
    is_virtual_device,
    load_end,
)
from stackcost.host import namespace
from stackcost.host.as_root import same_as_root
from stackcost.host.cores import allowed_cores, harness_on
from stackcost.host.kernel_client import leave_to_generator
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import hardware_address
from stackcost.host.signals import ending_signals_held, ending_signals_raise
from stackcost.host.steering import ReceiveWork, Steering, steer_receive

DEVICE = Path("/dev/cpu_dma_latency")


@contextmanager
def cores_awake() -> Iterator[str]:
    """Keep all cores awake until exit; yields a description of the idle state for the manifest.

    A core that halts between packets needs a wake-up for the next packet: an interrupt from the
    other core, and on a virtual machine two exits to the hypervisor. That cost would count as the
    cost of the connection, but it depends on the machine and its other guests, not on the stack.
    Measured on two virtual cores at 2,000 connections/s of nginx: with halting cores 138 us per
    connection, and 12 % between trials; with polling cores 94 us, 3 % between trials, and no
    wake-up interrupt. The network-latency profile of tuned sets the same as force_latency.

    Documentation/admin-guide/pm/cpuidle.rst, PM QoS: the request for an exit latency of zero
    microseconds lasts as long as the device is open, so it always ends with this process. On a
    machine without the device, or without a polling idle state, idle cores still halt.
    """
    try:
        device = DEVICE.open("wb", buffering=0)
    except OSError as error:
        yield f"as the machine does: {DEVICE}: {error.strerror}"
        return
    with device:
        device.write(struct.pack("i", 0))
        yield _said_by_driver()


def _said_by_driver() -> str:
    try:
        driver = Path("/sys/devices/system/cpu/cpuidle/current_driver").read_text().strip()
    except OSError:
        driver = "none"
    if driver == "none":
        return "as the machine does: no cpuidle driver, so no polling idle state"
    return f"awake: {DEVICE} held at 0 us, cpuidle driver {driver}"


PARTS = "interfaces of two hosts, in network namespaces"
EVERYWHERE = "0.0.0.0/0"


class Cpus(NamedTuple):
    """Cores by what they are for: the generator and the harness, or the system under test."""

    load: tuple[int, ...]
    server: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HalfBed:
    """One side of a test bed whose other side is on another machine.

    `interfaces`: of this machine, one for each end of the side, in the order of the wiring. Nothing
    but their receive steering is changed: queues, offloads and the wire are what they are.
    `neighbours`: MAC addresses of the load's ends, for the server's side. `number`: of the
    generator, for the load's side; those after the first one, 0, only have clients.
    """

    side: Side
    interfaces: tuple[str, ...]
    neighbours: tuple[str, ...] = ()
    number: int = 0

    def ends(self, wiring: Wiring) -> tuple[End, ...]:
        """The ends of a bed that are on this machine."""
        ends = wiring.part(self.side)
        return ends[:1] if self.number else ends

    def devices(self, wiring: Wiring) -> dict[End, str]:
        """The ends that are no interfaces but devices of DPDK, which the generator makes."""
        pairs = zip(self.ends(wiring), self.interfaces, strict=False)
        return {end: name for end, name in pairs if is_virtual_device(name)}


class LocalTestbed:
    """A context manager: makes the test bed on entry and removes it on every kind of exit.

    `wiring`: its links and ports; by default one link to a server.
    `kernel_server`: the server's interface gets addresses of the kernel's stack, 198.18.0.2 and
    `service_address`, and a route to `client_network`. Otherwise it gets no address, for a peer
    that sends and receives frames itself. `packet_server`: this peer has its frames from a packet
    socket, so its interface is polled as the kernel server's is. `service_address`, `service_port`:
    clients connect there.
    `initial_window`: of TCP on the route to the clients, in segments.
    `server_receive`: the cores that do the receive work of interfaces under test; by default all
    cores of the server. `queues`: veth queues in each direction, one for each generator core.
    `wanted_hugepages`: pages of 2 MB; fewer are no error, see `hugepages.reason` of `describe`.
    `backend_cpus`: the cores of a server behind a device, of the load's or of the server's cores.
    `may_share`: load and server may share cores. `part`: make only one side, on these interfaces.
    `gateways`: generators after the first one. On one machine a switch joins them to the system.

    On entry it first removes what a killed run left. It reports what cannot be removed, and raises
    an error if that prevents the new bed. It also raises an error if another run is active on this
    machine. While the bed exists, the harness runs only on the load's cores, and idle cores stay
    awake.
    """

    load_namespace = LOAD_NAMESPACE
    load_interface = LOAD_INTERFACE
    server_interface = SERVER_INTERFACE

    def __init__(
        self,
        load_cpus: Iterable[int] = (0,),
        server_cpus: Iterable[int] = (1,),
        wiring: Wiring = TO_SERVER,
        kernel_server: bool = True,
        packet_server: bool = False,
        service_address: str = SERVICE_ADDRESS,
        service_port: int = 80,
        client_network: str = CLIENT_NETWORK,
        initial_window: int = network.INITIAL_WINDOW["today"],
        server_receive: ReceiveWork | None = None,
        queues: int = 1,
        wanted_hugepages: int = hugepages.USUAL_COUNT,
        backend_cpus: Iterable[int] = (),
        may_share: bool = False,
        part: HalfBed | None = None,
        gateways: tuple[ClientGateway, ...] = (),
    ):
        self.cpus = Cpus(tuple(load_cpus), tuple(server_cpus))
        self.wiring = wiring
        self.backend_cpus = tuple(backend_cpus)
        self._part = part
        self._gateways = gateways
        self._links = wiring.links_for(1 + len(gateways))
        ends = tuple(end for link in self._links for end in link)
        self.ends = part.ends(wiring) if part else ends
        devices = part.devices(wiring) if part else {}
        self._interfaces = tuple(end for end in self.ends if end not in devices)
        self._kernel_server = kernel_server and not (part and part.side == "load")
        self._polls_server = self._kernel_server or packet_server
        self._service_address = service_address
        self._service_port = service_port
        self._client_network = client_network
        self._initial_window = initial_window
        self._receive = (
            ReceiveWork(self.cpus.load),
            server_receive or ReceiveWork(self.cpus.server),
        )
        self._queues = queues
        self._wanted_hugepages = wanted_hugepages
        self._may_share = may_share
        self._steering: tuple[Steering, ...] = ()
        self._idle = ""
        self._not_undone: tuple[str, ...] = ()
        self.hugepages = hugepages.Reservation(wanted_hugepages, 0, "not reserved yet")
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        check_cpus(self.cpus, self._may_share)
        check_root()
        with ExitStack() as entered:
            entered.enter_context(RunLock())
            entered.enter_context(ending_signals_raise())
            entered.enter_context(harness_on(self.cpus.load))
            self._idle = entered.enter_context(cores_awake())
            entered.callback(self._undo)
            self._make()
            self._exit = entered.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @property
    def is_half(self) -> bool:
        """Whether it is one side, on interfaces of this machine."""
        return self._part is not None

    @property
    def server_namespace(self) -> str:
        """The namespace of the system under test."""
        return self.wiring.namespace

    def run(
        self, namespace_name: str, command: Sequence[str], cpus: Iterable[int], **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a program in a namespace on given cores; `options` go to subprocess.Popen."""
        return namespace.run(namespace_name, command, cpus, **options)

    def addresses(self) -> list[str]:
        """MAC addresses of its interfaces; a device of DPDK has one once a generator has it."""
        return [hardware_address(end) for end in self._interfaces]

    def programs(self) -> list[int]:
        """Process ids of the programs in its namespaces, and of the harness."""
        inside = (namespace.processes_inside(end.namespace) for end in self.ends)
        return [os.getpid(), *(process.pid for each in inside for process in each)]

    def steer(self) -> tuple[Steering, ...]:
        """Put the receive work of each interface on its own cores, in the order of the wiring.

        This is done on entry. It must be repeated after the generator, or a peer, has attached to
        its interface with AF_XDP, because that creates receive work that did not exist before.
        """
        self._steering = tuple(
            steer_receive(*end, self._receive_work(end)) for end in self._interfaces
        )
        return self._steering

    def leave_clients_to_generator(self) -> None:
        """Have the kernel of the load's namespace take no frame to the generator's clients.

        `kernel_client` undoes it. Interfaces of a bed of two hosts are left as they are.
        """
        if self._part:
            return
        clients = [
            end.interface
            for end in self._interfaces
            if end.namespace == LOAD_NAMESPACE and end.interface != SERVER_INTERFACE
        ]
        leave_to_generator(clients, self._client_network)

    def _receive_work(self, end: End) -> ReceiveWork:
        """A server behind a device has its receive work as it has without a device. On the
        generator's cores all of it is that of one thread, whose time tells it from the generator's.
        """
        if self.wiring.server and end.namespace == self.wiring.serving:
            shares = set(self.backend_cpus) <= set(self.cpus.load)
            return ReceiveWork(self.backend_cpus, packet_steering=not shares)
        return self._receive[end in self.wiring.tested]

    def endpoint(self, folder: Path) -> Endpoint:
        """The endpoint of a server on the kernel's stack. `folder`: for configuration and logs.

        A server runs in that folder, so the folder's path that it gets has to be absolute.
        """
        folder = folder.resolve()
        address, port = self._service_address, self._service_port
        place = self.server_namespace, self.server_interface, self.cpus.server
        return Endpoint(
            *(*place, address, port, folder),
            stack=Kernel(Placement(*place, folder, (address, port))),
            upstream=self._upstream(),
            neighbours=self._part.neighbours if self._part else (),
            gateways=self._found_gateways(),
        )

    def _found_gateways(self) -> tuple[ClientGateway, ...]:
        """With the MAC addresses of the ends on this machine."""
        return tuple(
            each if each.mac else replace(each, mac=hardware_address(load_end(at)))
            for at, each in enumerate(self._gateways, 1)
        )

    def _upstream(self) -> BackendPlace | None:
        """Where a server behind the system under test runs: behind the device, or with the load."""
        if self._part:
            return None
        if behind := self.wiring.server:
            serving = self.wiring.serving
            return BackendPlace(
                serving, behind.interface, self.backend_cpus, behind.address, prefix=24
            )
        own = self.load_namespace, self.load_interface, self.cpus.load
        return BackendPlace(*own, LOAD_ADDRESS, prefix=24)

    def describe(self) -> dict[str, Any]:
        """The bed as it is now, for the manifest: cores, links, steering, offloads, hugepages.

        `not_undone`: changes of an earlier run that this run could not undo, as text.
        """
        interfaces = {"interfaces": list(self._part.interfaces)} if self._part else {}
        return {
            "kind": PARTS if self._part else self._words,
            "cpus": self.cpus._asdict(),
            "idle_cores": self._idle,
            "queues": self._queues,
            "mtu_bytes": network.MTU,
            "initial_window_segments": self._initial_window if self._kernel_server else None,
            "receive_steering": [end.describe() for end in self._steering],
            "offloads": {
                interface: network.offloads(name, interface) for name, interface in self._interfaces
            },
            "ipv6": "on the device's links" if self._has_ipv6() else "off in all namespaces",
            "hugepages": hugepages.describe(self.hugepages),
            "not_undone": list(self._not_undone),
            **interfaces,
        }

    @property
    def _words(self) -> str:
        switched = f"; a bridge joins {1 + len(self._gateways)} generators to it"
        return self.wiring.words + (switched if self._gateways else "")

    def _has_ipv6(self) -> bool:
        return any(":" in port.address for port in self.wiring.ports)

    def _make(self) -> None:
        self._clear()
        if self._part:
            if self._part.side == "load":
                for name in self._part.interfaces:
                    check_queues(name, max(1, len(self.cpus.load) - 1))
            take_interfaces(self.ends, self._part.interfaces)
        else:
            network.make_network(self._links, self._queues)
        if self._kernel_server:
            self._add_server_addresses()
        if not self._part:
            self._receive_as_nics()
        self.steer()
        self.hugepages = hugepages.reserve(self._wanted_hugepages)

    def _clear(self) -> None:
        """Undo what a killed run left; StackcostError if something remains that blocks this bed."""
        left = undo_and_report()
        if blocking := [step for step in left if step.blocks]:
            raise StackcostError(
                "the test bed cannot be made, because these steps of a clean-up failed: "
                + "; ".join(f"{step.what}: {step.reason}" for step in blocking),
                "end the named programs, then run: stackcost clean",
            )
        self._not_undone = tuple(f"{step.what}: {step.reason}; {step.matters}" for step in left)

    def _add_server_addresses(self) -> None:
        """Behind a device every route leads through it: it may translate the clients' addresses."""
        if behind := self.wiring.server:
            network.add_server_addresses(
                self._service_address,
                EVERYWHERE,
                self._initial_window,
                behind.address,
                behind.gateway,
                self._gateways if behind.gateway == LOAD_ADDRESS else (),  # through a bridge
            )
        else:
            network.add_server_addresses(
                self._service_address,
                self._client_network,
                self._initial_window,
                gateways=self._gateways,
            )

    def _receive_as_nics(self) -> None:
        """Turn GRO on where the kernel polls frames, but not for interfaces used by AF_XDP."""
        kernels = {DUT_NAMESPACE} | ({SERVER_NAMESPACE} if self._polls_server else set())
        for link in self._links:
            for sender, receiver in (link, reversed(link)):
                if receiver.namespace in kernels:
                    network.receive_as_a_nic(sender, receiver)

    def _undo(self) -> None:
        with ending_signals_held():
            undo_and_report()


def check_root() -> None:
    """StackcostError unless this process runs as root."""
    if os.geteuid() != 0:
        raise StackcostError(
            "the test bed needs root to make network namespaces", f"run {same_as_root()}"
        )


def check_cpus(cpus: Cpus, may_share: bool) -> None:
    """Refuse cores that do not exist, and cores that load and server would share by mistake."""
    present = allowed_cores()
    unknown = sorted({*cpus.load, *cpus.server} - {*present})
    if unknown:
        raise StackcostError(
            f"cores {unknown} do not exist; this machine has cores {present}",
            "choose other cores for load and server",
        )
    shared = sorted(set(cpus.load) & set(cpus.server))
    if shared and not may_share:
        raise StackcostError(
            f"load and server would share cores {shared}, which falsifies every CPU figure",
            "give load and server different cores; at least 2 cores are needed",
        )
