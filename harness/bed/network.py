"""Namespaces and the veth pairs between them: made, addressed and removed.

Nothing here has a route out of the machine: the namespaces know only each other, and no veth end
ever stands in the host's own namespace.
"""

import errno
from collections.abc import Sequence
from typing import Any

from pyroute2 import IPRoute, NetlinkError, netns

from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import (
    LINK_PREFIX,
    NAMESPACE_PREFIX,
    SERVER_INTERFACE,
    SERVER_NAMESPACE,
    End,
    Link,
)
from stackcost.host.namespace import NAMESPACE_FOLDER, execute

MTU = 1500
RECEIVE_STEP_NS = 50_000  # common in drivers of NICs
EMPTY_POLLS = 100  # in a row, after which the poll waits to be woken
INITIAL_WINDOW = 2  # segments; the published bed sets it on this very route


def make_network(links: Sequence[Link], queues: int) -> None:
    """Make the links' namespaces, loopback up, and each veth pair with `queues` queues each way,
    up.

    StackcostError when this machine does not allow namespaces or has no veth.
    """
    try:
        for namespace in dict.fromkeys(end.namespace for link in links for end in link):
            netns.create(namespace)
            _set_quiet(namespace)
        for link in links:
            _make_pair(link, queues)
    except (NetlinkError, OSError) as error:
        raise _explain(error) from error


def add_server_addresses(
    service_address: str,
    client_network: str,
    address: str = SERVER_ADDRESS,
    gateway: str = LOAD_ADDRESS,
) -> None:
    """Give the kernel's stack the server's addresses and the way back to the clients.

    The way back leads through the gateway, the load end's address unless a device stands between,
    which is resolved by ARP as on a real network, and sets the initial window.
    """
    with IPRoute(netns=SERVER_NAMESPACE) as network:
        index = network.link_lookup(ifname=SERVER_INTERFACE)[0]
        network.addr("add", index=index, address=address, prefixlen=24)
        network.addr("add", index=index, address=service_address, prefixlen=32)
        network.route(
            "add", dst=client_network, gateway=gateway, metrics={"initcwnd": INITIAL_WINDOW}
        )


def receive_as_a_nic(sender: End, receiver: End) -> None:
    """Let the receiver's stack receive by polls of a queue with GRO, as behind a NIC.

    By default a veth has neither: the sender's own call runs the receiver's stack. The kernel
    takes the queue only for a sender without TSO (veth_skb_is_eligible_for_gro in
    drivers/net/veth.c), so that is off on the load's end, where the generator has no use for it.
    """
    execute(sender.namespace, ["ethtool", "-K", sender.interface, "tso", "off"])
    execute(receiver.namespace, ["ethtool", "-K", receiver.interface, "gro", "on"])


def moderate_server_receive() -> None:
    """Let the server's end be polled in fixed steps while frames come, as by a NIC with rx-usecs.

    Otherwise a sender wakes the poll for nearly each frame it sends, and pays for that: in a
    virtual machine more than for all the rest of sending (Documentation/networking/napi.rst,
    "Software IRQ coalescing").
    """
    folder = f"/sys/class/net/{SERVER_INTERFACE}"
    execute(SERVER_NAMESPACE, ["tee", f"{folder}/gro_flush_timeout"], stdin=str(RECEIVE_STEP_NS))
    execute(SERVER_NAMESPACE, ["tee", f"{folder}/napi_defer_hard_irqs"], stdin=str(EMPTY_POLLS))


def existing_namespaces() -> list[str]:
    """Which of our namespaces there are, such as leftovers of a killed run: known by their name."""
    return sorted(path.name for path in NAMESPACE_FOLDER.glob(f"{NAMESPACE_PREFIX}*"))


def remove_namespace(namespace: str) -> None:
    """Remove one of ours with its links, whose other ends go with them."""
    _delete_links(namespace)
    netns.remove(namespace)


def offloads(namespace: str, interface: str) -> dict[str, bool]:
    """The offload features that decide what frames look like, as set now.

    Beyond `receive_as_a_nic` they are left as Linux makes them. With tx checksumming on, a veth end
    sends partial TCP checksums (the pseudo header's only), and the engine tolerates them. When an
    AF_XDP socket is attached to one end, the kernel turns TCP segmentation offload of the other end
    off (veth_xdp_set): from then on the server's stack segments in software.
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


def _set_quiet(namespace: str) -> None:
    """No IPv6 here: router solicitations and duplicate address detection would be stray frames."""
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


def _delete_links(namespace: str) -> None:
    """Deleted by hand: the kernel would do it later, at a time of its own, after the namespace."""
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
            "this machine does not let us make network namespaces",
            "run as root; in a container, with --privileged",
        )
    if code == errno.EOPNOTSUPP:
        return StackcostError("this kernel has no veth interfaces", "modprobe veth")
    return StackcostError(f"the test bed's network could not be made: {error}", "stackcost clean")
