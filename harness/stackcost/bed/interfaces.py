"""Interfaces of this machine that a test bed uses in place of veth pairs.

An interface is moved into the namespace of its end, under the name that the end has on every bed,
and given back as it was. Its old state is recorded before the move, so the next start gives it back
after a kill. An interface that this machine itself uses is refused.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute, netns

from stackcost.bed.network import MTU, existing_namespaces, set_quiet
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import End, is_virtual_device
from stackcost.host.namespace import execute
from stackcost.host.state import StateFile
from stackcost.host.undo import UndoStep, undo

SSH = "SSH_CONNECTION"  # sshd sets it: address and port of the client, then of this machine
UP, LOOPBACK = 1, 8  # IFF_UP and IFF_LOOPBACK of linux/if.h


@dataclass(frozen=True, slots=True)
class Taken:
    """An interface and its state before it was moved.

    `threaded`: whether its receive queues were polled by threads. `rps_cpus`: mask by queue.
    """

    name: str
    namespace: str
    interface: str
    mtu: int
    up: bool
    threaded: str
    rps_cpus: dict[str, str]


TAKEN = StateFile("interfaces.json", list[Taken], [])


def take_interfaces(ends: Sequence[End], names: Sequence[str]) -> None:
    """Move these interfaces of this machine to the ends of a bed, in order, and set them up.

    Those that are devices of DPDK are no interfaces, so there is nothing to move. StackcostError
    if one of them does not exist or is in use by this machine; then none is moved.
    """
    if len(names) != len(ends):
        wanted = ", ".join(end.interface for end in ends)
        raise StackcostError(
            f"this side of the test bed needs {len(ends)} interfaces ({wanted}), "
            f"but the experiment names {len(names)}",
            "change bed in the experiment",
        )
    for name in names:
        check_free(name)
    moved = [pair for pair in zip(names, ends, strict=True) if not is_virtual_device(pair[0])]
    TAKEN.write([_state(name, end) for name, end in moved])
    for namespace in dict.fromkeys(end.namespace for end in ends):
        netns.create(namespace)
        set_quiet(namespace)
        with IPRoute(netns=namespace) as network:
            network.link("set", index=_index(network, "lo"), state="up")
    for name, end in moved:
        _move(name, end)


def give_back() -> list[UndoStep]:
    """Give back all interfaces that are recorded; the record stays until that is done."""
    steps = [_give_back(taken) for taken in TAKEN.read()]
    if all(step.done for step in steps):
        TAKEN.write([])
    return steps


def _check_socket(device: str) -> None:
    """StackcostError if nothing made the socket that a device is to connect to."""
    arguments = dict(each.partition("=")[::2] for each in device.split(",")[1:])
    path = arguments.get("iface", "")
    if arguments.get("client") == "1" and not Path(path).is_socket():
        raise StackcostError(
            f"there is no socket {path}, which {device} connects to",
            "for that of a guest, start the guest: stackcost guest start",
        )


def check_free(name: str) -> None:
    """StackcostError if this machine has no such interface, or uses it itself."""
    if is_virtual_device(name):
        _check_socket(name)
        return
    with IPRoute() as network:
        links = {str(link.get_attr("IFLA_IFNAME")): link for link in network.get_links()}
        if name not in links:
            raise StackcostError(
                f"there is no interface {name}; there are: {', '.join(sorted(links))}",
                "change bed in the experiment",
            )
        if why := _in_use(network, name, links):
            raise StackcostError(
                f"interface {name} is refused: {why}",
                "name an interface that this host itself does not use",
            )


def check_queues(name: str, most: int) -> None:
    """StackcostError if an interface has more receive queues than a generator reads.

    The generator attaches one data core to each queue by AF_XDP, and never sees what comes by
    another one. A device of DPDK has as many queues as the generator asks for.
    """
    queues = len(list(Path("/sys/class/net", name, "queues").glob("rx-*")))
    if queues > most:
        raise StackcostError(
            f"interface {name} has {queues} receive queues, and the generator reads {most}: it "
            "would lose what comes by the others",
            f"give it as many: ethtool -L {name} combined {most}, of a guest's NIC when the guest "
            "is started; or give the load more cores",
        )


def _in_use(network: IPRoute, name: str, links: dict[str, Any]) -> str:
    link, index = links[name], links[name]["index"]
    if link["flags"] & LOOPBACK:
        return "it is the loopback interface"
    routes = [route for route in network.get_routes() if route.get_attr("RTA_OIF") == index]
    if any(route["dst_len"] == 0 and route.get_attr("RTA_DST") is None for route in routes):
        return "it carries the default route of the host"
    addresses = [
        f"{address.get_attr('IFA_ADDRESS')}/{address['prefixlen']}"
        for address in network.get_addr(index=index)
        if address["scope"] == 0  # a link-local one is on every interface that is up
    ]
    own = os.environ.get(SSH, "").split()[2:3]
    if own and own[0] in [address.partition("/")[0] for address in addresses]:
        return "it carries the SSH session"
    if addresses:
        return f"it has the address {', '.join(addresses)}"
    if link.get_attr("IFLA_MASTER"):
        return "it is part of a bridge or bond"
    upper = [
        each
        for each, other in links.items()
        if other.get_attr("IFLA_LINK") == index and other.get_attr("IFLA_LINK_NETNSID") is None
    ]
    return f"{', '.join(upper)} uses it" if upper else ""


def _state(name: str, end: End) -> Taken:
    folder = Path("/sys/class/net", name)
    with IPRoute() as network:
        link = network.get_links(_index(network, name))[0]
    queues = sorted((folder / "queues").glob("rx-*/rps_cpus"))
    return Taken(
        name,
        end.namespace,
        end.interface,
        mtu=link.get_attr("IFLA_MTU"),
        up=bool(link["flags"] & UP),
        threaded=(folder / "threaded").read_text().strip(),
        rps_cpus={path.parent.name: path.read_text().strip() for path in queues},
    )


def _move(name: str, end: End) -> None:
    with IPRoute() as network:
        index = _index(network, name)
        network.link("set", index=index, state="down")
        network.link("set", index=index, net_ns_fd=end.namespace, ifname=end.interface)
    with IPRoute(netns=end.namespace) as network:
        network.link("set", index=_index(network, end.interface), mtu=MTU, state="up")


def _give_back(taken: Taken) -> UndoStep:
    def left() -> str:
        if _is_here(taken.name) or _is_gone(taken):
            return ""
        return f"it is still in namespace {taken.namespace}"

    return undo(
        f"give back interface {taken.name}",
        partial(_return, taken),
        left,
        "the host lacks this interface, and a new test bed cannot be made before this is done",
        blocks=True,
    )


def _return(taken: Taken) -> None:
    if taken.namespace not in existing_namespaces():
        raise StackcostError(f"namespace {taken.namespace} does not exist; to look: ip link")
    folder = f"/sys/class/net/{taken.interface}"
    # A veth that is down, as after a cut link, has no NAPI, and then the setting takes no value. An
    # interface that never has NAPI, as a tap, keeps the value that it had.
    with IPRoute(netns=taken.namespace) as network:
        network.link("set", index=_index(network, taken.interface), state="up")
    if execute(taken.namespace, ["cat", f"{folder}/threaded"]).strip() != taken.threaded:
        execute(taken.namespace, ["tee", f"{folder}/threaded"], stdin=taken.threaded)
    for queue, mask in taken.rps_cpus.items():
        execute(taken.namespace, ["tee", f"{folder}/queues/{queue}/rps_cpus"], stdin=mask)
    with IPRoute(netns=taken.namespace) as network:
        index = _index(network, taken.interface)
        network.link("set", index=index, state="down")
        network.flush_addr(index=index)
        network.link("set", index=index, net_ns_pid=os.getpid(), ifname=taken.name)
    with IPRoute() as network:
        state = "up" if taken.up else "down"
        network.link("set", index=_index(network, taken.name), mtu=taken.mtu, state=state)


def _is_gone(taken: Taken) -> bool:
    """Whether the namespace has lost it, as that of a guest's tap does when the guest ends."""
    if taken.namespace not in existing_namespaces():
        return False
    with IPRoute(netns=taken.namespace) as network:
        return not network.link_lookup(ifname=taken.interface)


def _is_here(name: str) -> bool:
    with IPRoute() as network:
        return bool(network.link_lookup(ifname=name))


def _index(network: IPRoute, name: str) -> int:
    found = network.link_lookup(ifname=name)
    if not found:
        raise StackcostError(f"there is no interface {name}")
    return int(found[0])
