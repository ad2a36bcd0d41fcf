"""What carries the TCP connections of a program: the kernel's stack, or one that takes its place.

An experiment names a stack (`kernel`, `mptcp`, `onload-balanced`), or gives the file of a profile
of Onload; servers and clients are started by it.
"""

from collections.abc import Sequence
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement
from stackcost.contracts.stack import KERNEL, Stack
from stackcost.host.kernel_stack import Kernel
from stackcost.host.mptcp import refused as refused_mptcp
from stackcost.stacks.mptcp import NAME as MPTCP
from stackcost.stacks.mptcp import Mptcp
from stackcost.stacks.onload import (
    PREFIX,
    PROFILE_SUFFIX,
    Installation,
    Onload,
    profile_names,
    profile_of,
    refused,
)


def stack_names() -> list[str]:
    """All there are, whether they can run here or not."""
    return [KERNEL, MPTCP, *(PREFIX + name for name in profile_names())]


def is_own_file(name: str) -> bool:
    """Whether it is the path of a profile of Onload, and no name."""
    return name.endswith(PROFILE_SUFFIX)


def check_stack(name: str) -> None:
    """StackcostError unless there is a stack of this name, or a profile of Onload in this file."""
    if is_own_file(name):
        profile_of(name)
    elif name not in stack_names():
        raise StackcostError(
            f"there is no stack {name!r}",
            f"choose one of {', '.join(stack_names())}, or the file of a profile of Onload",
        )


def stack_of(name: str, placement: Placement, counted: bool = False) -> Stack:
    """The stack of this name for a program at a place; nothing is done to the machine yet.

    `counted`: instructions are counted there.
    """
    check_stack(name)
    if name == KERNEL:
        return Kernel(placement)
    if name == MPTCP:
        return Mptcp(placement)
    return Onload(placement, profile_of(name.removeprefix(PREFIX)), counted=counted)


def stack_of_clients(server: str, clients: str) -> str:
    """The stack that HTTP clients need for a server on a stack, where `clients` is their own.

    MPTCP is a protocol of both ends: to clients without it, its server speaks TCP.
    """
    return MPTCP if server == MPTCP else clients


def stack_lacks(name: str, interfaces: Sequence[str] = ()) -> str:
    """Which parts this machine lacks for it, and how that was established; empty when none.

    `interfaces`: of this machine, for a test bed of several hosts; empty for veth pairs.
    """
    if name == KERNEL:
        return ""
    if name == MPTCP:
        return refused_mptcp()
    installation = Installation()
    return installation.lacks() or refused(installation, interfaces)


def on_stack(server: str, stack: str) -> str:
    """What a server is called on a stack: nginx/kernel is nginx/onload-balanced on that one.

    On a profile in a file it has the name of the file.
    """
    base = server.removesuffix(f"/{KERNEL}")
    called = PREFIX + Path(stack).stem if is_own_file(stack) else stack
    return server if stack == KERNEL else f"{base}/{called}"
