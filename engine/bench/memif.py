"""Connections a second between two engines joined by memif, and what one takes at equal loads."""

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from tools.busy import Busy, busy_at
from tools.ceiling import DEFINITION, Pair
from tools.engine import RPC_PORTS, driven
from tools.figures import Figure, Measured, Reference, number, report, say
from tools.machine import cpus
from tools.ramp import LOSSES_ALLOWED, NONE_LOST, losses_allowed, none_lost, ramp

from stackcost.bed.lock import RunLock
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.host.signals import ending_signals_raise
from stackcost.trex.trex_config import TrexConfig

PROFILE = "one_byte.py"
TUNABLES = {"rfc1323": 0}  # frames of 54 to 62 bytes, as dperf's
DPERF_SOURCE = (
    "dperf 1.9, one core for each side over memif, 1-byte payload, 2-core virtual machine"
)

CPS = Figure(
    "CPS, client and server on one core each",
    "connections/s",
    f"connections of a byte each way completed a second; two processes, {DEFINITION}",
    target=2_500_000,
    references=(Reference("dperf 1.9", 2_500_000, DPERF_SOURCE),),
)
WHOLE_CORE = Figure(
    "CPS for a whole core, client",
    "connections/s",
    "the same over the client's data thread's own CPU time",
)
WITHOUT_LOSS = Figure("CPS of a ramp, none lost", "connections/s", NONE_LOST)
WITH_LOSSES = Figure("CPS of a ramp, losses allowed", "connections/s", LOSSES_ALLOWED)
FRAMES = Figure("frames sent by the client", "frames/s", "by its port")
BUSY_LOADS = (20_000, 100_000, 500_000)  # of a byte each way; the last is held by dperf, too
STACK_LOADS = (5_000, 20_000, 40_000)  # of a response of 32 KB
SERVED = "http_program.py"
ACCOUNT = "passes of its loop that did work (stackcost_get_cpu), over connections completed"


def run(trials: int) -> dict[str, Any]:
    """Client and server stay up for all trials."""
    if len(cpus()) < 2:
        raise StackcostError("one CPU only", "give the benchmark a CPU for each side")
    measured = [Measured(CPS), Measured(WHOLE_CORE), Measured(FRAMES)]
    of_ramp = [Measured(WITHOUT_LOSS), Measured(WITH_LOSSES)]
    busy = {offered: _ends("busy, a byte each way", offered, ACCOUNT) for offered in BUSY_LOADS}
    stack_alone = {
        offered: _ends(
            "stack, response of 32 KB",
            offered,
            f"{ACCOUNT}; without the calls that send, which copy payload over memif",
        )
        for offered in STACK_LOADS
    }
    with ExitStack() as stack:
        # Another run's cores are these.
        stack.enter_context(RunLock())
        stack.enter_context(ending_signals_raise())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        socket = f"{Path(folder)}/memif"
        server_ports = [Port("dummy"), memif("server", socket, "198.18.0.2", "198.18.0.1")]
        client_ports = [memif("client", socket, "198.18.0.1", "198.18.0.2"), Port("dummy")]
        server_cpu, client_cpu = cpus()[0], cpus()[-1]
        rpc, publish = RPC_PORTS
        server = stack.enter_context(
            driven(TrexConfig("bench-server", server_ports, [server_cpu], rpc + 10, publish + 10))
        )
        client = stack.enter_context(
            driven(TrexConfig("bench-client", client_ports, [client_cpu], rpc, publish))
        )
        pair = Pair(client, server, PROFILE, TUNABLES)
        for trial in range(trials):
            seen = pair.highest()
            values = (seen.connections, seen.connections / seen.core_share, seen.frames)
            for one, value in zip(measured, values, strict=True):
                one.trials.append(value)
            seconds = ramp(pair)
            for one, value in zip(
                of_ramp, (none_lost(seconds), losses_allowed(seconds)), strict=True
            ):
                one.trials.append(value)
            said = ", ".join(number(one.trials[-1] or 0) for one in (measured[0], *of_ramp))
            for offered, ends in busy.items():
                _add(ends, pair, offered, lambda end: end.whole)
            for offered, ends in stack_alone.items():
                _add(ends, Pair(client, server, SERVED), offered, lambda end: end.stack)
            say(trial, trials, f"{said} connections/s")
    return report([*measured, *of_ramp, *chain(*busy.values(), *stack_alone.values())])


def _ends(what: str, offered: int, definition: str) -> list[Measured]:
    """A figure of each end at a load."""
    return [
        Measured(Figure(f"{what}, {offered:,}/s, {end}", "us/connection", definition))
        for end in ("client", "server")
    ]


def _add(ends: list[Measured], pair: Pair, offered: int, part: Callable[[Busy], float]) -> None:
    """The next trial of both ends; a load that was not held is the reason."""
    try:
        values: list[float | str] = [part(end) for end in busy_at(pair, offered)]
    except StackcostError as reason:
        values = [str(reason)] * len(ends)
    for one, value in zip(ends, values, strict=True):
        one.add(value)


def memif(role: str, socket: str, address: str, gateway: str) -> Port:
    """One end of the shared memory; the server makes the socket.

    Rings of 16,384 frames: what arrives while the other core is away for some milliseconds. Their
    buffers are small, or each frame would meet memory that has left the caches: 64 MB for both
    rings by default; the frames here have 54 to 78 bytes, longer ones take several buffers.
    """
    rings = "rsize=14,bsize=256"
    device = f"--vdev=net_memif0,role={role},socket={socket},socket-abstract=no,{rings}"
    return Port(device, address, gateway)
