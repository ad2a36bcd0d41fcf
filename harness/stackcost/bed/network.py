"""Makes, addresses and removes the namespaces and the veth pairs between them.

Nothing here has a route out of the machine: the namespaces are connected only with each other, and
no veth interface is ever in the host's own namespace.
"""

import errno
from collections.abc import Sequence
from typing import Any

from pyroute2 import IPRoute, NetlinkError, netns

from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.endpoint import ClientGateway
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import (
    LINK_PREFIX,
    NAMESPACE_PREFIX,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
    SWITCH_BRIDGE,
    SWITCH_NAMESPACE,
    End,
    Link,
)
from stackcost.host.namespace import NAMESPACE_FOLDER, execute

MTU = 1500
RECEIVE_STEP_NS = 50_000  # common in drivers of NICs
EMPTY_POLLS = 100  # consecutive empty polls, after which polling stops until an interrupt
# Segments, by the workload's `tcp`: Linux's own (TCP_INIT_CWND in include/net/tcp.h, RFC 6928), and
# that of the published bed, which sets it on the same route.
INITIAL_WINDOW = {"today": 10, "published": 2}


def make_network(links: Sequence[Link], queues: int) -> None:
    """Make the namespaces and the veth pairs of these links, and set them and loopback up.

    `queues`: queues of a veth pair in each direction. StackcostError if this machine does not
    allow namespaces or has no veth.
    """
    try:
        for namespace in dict.fromkeys(end.namespace for link in links for end in link):
            netns.create(namespace)
            set_quiet(namespace)
        for link in links:
            _make_pair(link, queues)
        _join([end for link in links for end in link if end.namespace == SWITCH_NAMESPACE])
    except (NetlinkError, OSError) as error:
        raise _explain(error) from error


def add_server_addresses(
    service_address: str,
    client_network: str,
    initial_window: int,
    address: str = SERVER_ADDRESS,
    gateway: str = LOAD_ADDRESS,
    gateways: Sequence[ClientGateway] = (),
) -> None:
    """Give the kernel's stack the server's addresses and the routes back to the clients.

    The routes set the initial window. A gateway is resolved by ARP as on a real network; it is the
    load's address, or that of a device in between. `gateways`: of generators after the first one.
    """
    with IPRoute(netns=SERVER_NAMESPACE) as network:
        index = network.link_lookup(ifname=SERVER_INTERFACE)[0]
        network.addr("add", index=index, address=address, prefixlen=24)
        network.addr("add", index=index, address=service_address, prefixlen=32)
        ways = [(client_network, gateway)]
        ways += [(clients, each.address) for each in gateways for clients in each.networks]
        for clients, via in ways:
            network.route("add", dst=clients, gateway=via, metrics={"initcwnd": initial_window})


def receive_as_a_nic(sender: End, receiver: End) -> None:
    """Make the receiver's stack poll a queue with GRO, as it does with a NIC.

    By default a veth pair has neither: the sender's system call runs the receiver's stack. The
    kernel uses the queue only if the sender has no TSO (veth_skb_is_eligible_for_gro in
    drivers/net/veth.c), so TSO is off on the load's interface, where the generator does not use it.
    """
    execute(sender.namespace, ["ethtool", "-K", sender.interface, "tso", "off"])
    execute(receiver.namespace, ["ethtool", "-K", receiver.interface, "gro", "on"])


def moderate_server_receive() -> None:
    """Poll the server's interface at fixed intervals while frames arrive, like a NIC with rx-usecs.

    Otherwise the sender wakes the poll for nearly every frame and pays for it: in a virtual machine
    more than for the rest of sending (Documentation/networking/napi.rst, "Software IRQ
    coalescing").
    """
    folder = f"/sys/class/net/{SERVER_INTERFACE}"
    execute(SERVER_NAMESPACE, ["tee", f"{folder}/gro_flush_timeout"], stdin=str(RECEIVE_STEP_NS))
    execute(SERVER_NAMESPACE, ["tee", f"{folder}/napi_defer_hard_irqs"], stdin=str(EMPTY_POLLS))


def existing_namespaces() -> list[str]:
    """Our namespaces that exist now, identified by name; a killed run leaves some."""
    return sorted(path.name for path in NAMESPACE_FOLDER.glob(f"{NAMESPACE_PREFIX}*"))


def remove_namespace(namespace: str) -> None:
    """Remove one of our namespaces and its links; the other end of each link disappears too."""
    _delete_links(namespace)
    netns.remove(namespace)


def offloads(namespace: str, interface: str) -> dict[str, bool]:
    """The current state of the offload features that change frames.

    Apart from `receive_as_a_nic` they keep Linux's defaults. With tx checksumming on, a veth
    interface sends partial TCP checksums (of the pseudo header only), and the engine accepts them.
    When an AF_XDP socket is attached to one interface, the kernel turns TCP segmentation offload of
    the other one off (veth_xdp_set): from then on the server's stack segments in software.
    """
    wanted = {
        "tx-checksumming",
        "rx-checksumming",
        "tcp-segmentation-offload",
        "generic-segmentation-offload",
        "generic-receive-offload",
    }
    found = {}
    for line in execute(namespace, ["ethtool", "-k", interface]).splitlines():
        name, _, state = line.partition(":")
        if name in wanted:
            found[name] = state.split()[0] == "on"
    return found


def set_quiet(namespace: str) -> None:
    """Turn IPv6 off: router solicitations and duplicate address detection would add frames."""
    for scope in ("all", "default"):
        path = f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"
        execute(namespace, ["sh", "-c", f"[ ! -e {path} ] || echo 1 > {path}"])


def _make_pair(link: Link, queues: int) -> None:
    counts: dict[str, Any] = {"num_tx_queues": queues, "num_rx_queues": queues}
    peer = {
        "ifname": link.far.interface,
        "net_ns_fd": str(NAMESPACE_FOLDER / link.far.namespace),
        **counts,
    }
    with IPRoute(netns=link.near.namespace) as network:
        network.link("add", ifname=link.near.interface, kind="veth", peer=peer, **counts)
    for namespace, interface in link:
        with IPRoute(netns=namespace) as network:
            network.link("set", index=network.link_lookup(ifname="lo")[0], state="up")
            index = network.link_lookup(ifname=interface)[0]
            network.link("set", index=index, mtu=MTU, state="up")


def _join(ports: Sequence[End]) -> None:
    """Make the switch of these ports: a bridge that learns, without a spanning tree."""
    if not ports:
        return
    with IPRoute(netns=SWITCH_NAMESPACE) as network:
        network.link("add", ifname=SWITCH_BRIDGE, kind="bridge")
        bridge = network.link_lookup(ifname=SWITCH_BRIDGE)[0]
        network.link("set", index=bridge, mtu=MTU, state="up")
        for port in ports:
            index = network.link_lookup(ifname=port.interface)[0]
            network.link("set", index=index, master=bridge)


def _delete_links(namespace: str) -> None:
    """Delete the links explicitly: the kernel would do it at some time after the namespace."""
    try:
        with IPRoute(netns=namespace) as network:
            for link in network.get_links():
                if str(link.get_attr("IFLA_IFNAME")).startswith(LINK_PREFIX):
                    network.link("del", index=link["index"])
    except (NetlinkError, OSError):
        return  # a name without a namespace behind it: the name is all there is to remove


def _explain(error: OSError | NetlinkError) -> StackcostError:
    code = error.code if isinstance(error, NetlinkError) else error.errno
    if code in (errno.EPERM, errno.EACCES):
        return StackcostError(
            "this machine does not allow network namespaces",
            "run as root; start a container with --privileged",
        )
    if code == errno.EOPNOTSUPP:
        return StackcostError("this kernel has no veth interfaces", "run: modprobe veth")
    return StackcostError(
        f"the network of the test bed could not be made: {error}", "run: stackcost clean"
    )
