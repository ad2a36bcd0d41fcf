"""Settings of one interface's polls (NAPI), which the kernel takes by netlink since Linux 6.13."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, genlmsg
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket

from stackcost.contracts.errors import StackcostError

GET, SET = 11, 14  # NETDEV_CMD_NAPI_GET, NETDEV_CMD_NAPI_SET, linux/netdev.h


class _Napi(genlmsg):
    """Attributes NETDEV_A_NAPI_ of linux/netdev.h, in their order."""

    nla_map = (
        ("none", "none"),
        ("ifindex", "uint32"),
        ("id", "uint32"),
        ("irq", "uint32"),
        ("pid", "uint32"),
        ("defer_hard_irqs", "uint32"),
        ("gro_flush_timeout", "uint32"),  # of netlink's kind uint, of 4 bytes or 8
        ("irq_suspend_timeout", "uint32"),
    )


def set_polls(namespace: str, interface: str, settings: Mapping[str, int]) -> None:
    """Set `defer_hard_irqs` (empty polls), `gro_flush_timeout` and `irq_suspend_timeout` (ns).

    They are of all polls of an interface, and end with it. They are read back. StackcostError where
    the kernel refuses them, or the interface has no poll.
    """
    with IPRoute(netns=namespace) as network:
        index = network.link_lookup(ifname=interface)[0]
    try:
        with GenericNetlinkSocket(netns=namespace) as socket:
            socket.bind("netdev", _Napi)
            polls = [each for each in _ask(socket, GET) if each.get_attr("ifindex") == index]
            for poll in polls:
                _ask(socket, SET, [("id", poll.get_attr("id")), *settings.items()])
            seen = [each for each in _ask(socket, GET) if each.get_attr("ifindex") == index]
    except NetlinkError as error:
        raise _refused(interface, str(error)) from error
    if not polls or any(
        each.get_attr(name) != settings[name] for each in seen for name in settings
    ):
        raise _refused(interface, "it has no poll, or other values")


def _ask(socket: Any, command: int, attributes: Sequence[tuple[str, int]] = ()) -> list[Any]:
    asked = _Napi()
    asked["cmd"], asked["version"], asked["attrs"] = command, 1, list(attributes)
    flags = NLM_F_REQUEST | (NLM_F_DUMP if command == GET else NLM_F_ACK)
    return list(socket.nlm_request(asked, msg_type=socket.prid, msg_flags=flags))


def _refused(interface: str, why: str) -> StackcostError:
    return StackcostError(
        f"the kernel does not hold back the polls of {interface} ({why})",
        "use Linux 6.13 or later, and GRO on the interface",
    )
