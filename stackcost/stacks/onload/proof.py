"""Whether Onload carried a program's connections: decided from looks before, during and after."""

from stackcost.contracts.stack import When
from stackcost.stacks.onload.observe import Seen

MUST_MOVE = ("rx_evs", "tx_evs")
MUST_STAND = {
    "sock_wakes_rx_os": "sockets were woken by the kernel's stack",
    "no_match_pass_to_kernel_tcp": "TCP segments were passed to the kernel",
}


def objections(
    when: When, before: Seen, now: Seen, listens: tuple[str, int] | None = None
) -> list[str]:
    """Why it does not hold that Onload carries the connections; empty when it does.

    `before`: the look before the load, which `now` is as well when it is that one. `listens`: what
    a server listens on; None for a client, whose connections come with the load.
    """
    found = _of_processes(now, must_have=listens is not None or when == "during")
    if listens is not None and not {listens, ("0.0.0.0", listens[1])} & now.listening:
        found.append(f"onload_stackdump filters has no accelerated {listens[0]}:{listens[1]}")
    if when != "before":
        found += _of_kernel(before, now, is_server=listens is not None)
    if when == "after":
        found += _of_onload(before, now, is_server=listens is not None)
    return found


def _of_processes(now: Seen, must_have: bool) -> list[str]:
    found = []
    if must_have:
        if not now.stacked:
            found.append("onload_stackdump lists no stack with a process")
        if not any(sockets.onload for sockets in now.sockets.values()):
            found.append("no process has an onload:[tcp...] among its descriptors")
    for role, sockets in now.sockets.items():
        if sockets.kernel:
            found.append(f"{role} has {sockets.kernel} TCP sockets of the kernel (/proc/PID/fd)")
    return found


def _of_kernel(before: Seen, now: Seen, is_server: bool) -> list[str]:
    """The kernel's own counters stand still when it carries nothing."""
    opens = "PassiveOpens" if is_server else "ActiveOpens"
    return [
        f"the kernel's Tcp{name} moved by {moved}"
        for name in (opens, "InSegs")
        if (moved := now.kernel.get(name, 0) - before.kernel.get(name, 0))
    ]


def _of_onload(before: Seen, now: Seen, is_server: bool) -> list[str]:
    """Onload's own counters move when it carries something."""
    if now.onload is None:
        return ["orm_json tells no counters"]
    moved = {name: n - (before.onload or {}).get(name, 0) for name, n in now.onload.items()}
    must_move = (*MUST_MOVE, "ul_accepts") if is_server else MUST_MOVE
    found = [f"Onload's {name} did not move" for name in must_move if moved[name] <= 0]
    return found + [
        f"{what} ({name} moved by {moved[name]})"
        for name, what in MUST_STAND.items()
        if moved[name]
    ]
