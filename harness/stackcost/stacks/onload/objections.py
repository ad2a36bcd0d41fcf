"""Whether Onload carried a program's connections: decided from observations before, during and
after.
"""

from collections.abc import Iterator
from typing import NamedTuple

from stackcost.contracts.stack import When
from stackcost.stacks.onload.observe import Observation

MUST_MOVE = ("rx_evs", "tx_evs")
MUST_STAND = {
    "sock_wakes_rx_os": "sockets were woken by the kernel's stack",
    "no_match_pass_to_kernel_tcp": "TCP segments were passed to the kernel",
}


class Objection(NamedTuple):
    """What speaks against Onload, in words. `for_kernel`: it shows the kernel's stack at work.

    Without it Onload was not seen at work: the program may have ended, or it accepts nothing.
    """

    words: str
    for_kernel: bool = False


def objections(
    when: When, before: Observation, now: Observation, listens: tuple[str, int] | None = None
) -> list[Objection]:
    """Why it does not hold that Onload carries the connections; empty when it does.

    `before`: the observation before the load, which `now` is as well when it is that one.
    `listens`: what a server listens on; None for a client, whose connections come with the load.
    """
    found = list(_of_processes(now, must_have=listens is not None or when == "during"))
    if listens is not None and not {listens, ("0.0.0.0", listens[1])} & now.listening:
        words = f"onload_stackdump filters has no accelerated {listens[0]}:{listens[1]}"
        found.append(Objection(words))
    if when != "before":
        found += _of_kernel(before, now, is_server=listens is not None)
    if when == "after":
        found += _of_onload(before, now, is_server=listens is not None)
    return found


def _of_processes(now: Observation, must_have: bool) -> Iterator[Objection]:
    if must_have:
        if not now.stacks:
            yield Objection("onload_stackdump lists no stack of a process")
        if not any(sockets.onload for sockets in now.sockets.values()):
            yield Objection("no process has an onload:[tcp...] among its descriptors")
    for role, sockets in now.sockets.items():
        if sockets.kernel:
            words = f"{role} has {sockets.kernel} TCP sockets of the kernel (/proc/PID/fd)"
            yield Objection(words, for_kernel=True)


def _of_kernel(before: Observation, now: Observation, is_server: bool) -> Iterator[Objection]:
    """The kernel's own counters stand still when it carries nothing."""
    for name in ("PassiveOpens" if is_server else "ActiveOpens", "InSegs"):
        if moved := now.kernel.get(name, 0) - before.kernel.get(name, 0):
            yield Objection(f"the kernel's Tcp{name} moved by {moved}", for_kernel=True)


def _of_onload(before: Observation, now: Observation, is_server: bool) -> Iterator[Objection]:
    """Onload's own counters move when it carries something."""
    if now.onload is None:
        yield Objection("orm_json reports no counters")
        return
    moved = {name: n - (before.onload or {}).get(name, 0) for name, n in now.onload.items()}
    for name in (*MUST_MOVE, "ul_accepts") if is_server else MUST_MOVE:
        if moved[name] <= 0:
            yield Objection(f"Onload's {name} did not move")
    for name, what in MUST_STAND.items():
        if moved[name]:
            yield Objection(f"{what} ({name} moved by {moved[name]})", for_kernel=True)
