"""Connections a second between two engines, one core each, joined by shared memory (memif)."""

import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from tools.engine import (
    OVERLOAD_CPS,
    PROFILES,
    RPC_PORTS,
    Driven,
    Rates,
    driven,
    rates_at,
    serving,
)
from tools.figures import Figure, Measured, Reference, number, report, say
from tools.machine import cpus

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.harness.bed import hugepages
from stackcost.harness.bed.leftovers import undo_and_report
from stackcost.harness.bed.lock import RunLock
from stackcost.harness.bed.signals import ending_signals_raise
from stackcost.trex.trex_config import TrexConfig

PROFILE = "one_byte.py"
STEP = 0.05  # the search ends when the least rate refused is so little above the highest kept
LEAST_CPS = 50_000
KEPT = 0.98  # of the connections offered: with fewer the rate is not kept
TRIES = 3  # of a rate: a host that takes a core away for some milliseconds loses frames at any
DPERF_SOURCE = (
    "dperf 1.9, one core for each side over memif, 1-byte payload, 2-core virtual machine"
)

CPS = Figure(
    "CPS, client and server on one core each",
    "connections/s",
    "connections of a byte each way completed a second; two processes, the highest offered load, "
    f"to {STEP:.0%}, of which {KEPT:.0%} was completed, no failed flow, no segment sent twice, in "
    f"one of {TRIES} tries",
    target=2_500_000,
    references=(Reference("dperf 1.9", 2_500_000, DPERF_SOURCE),),
)
WHOLE_CORE = Figure(
    "CPS for a whole core, client",
    "connections/s",
    "the same over the client's data thread's own CPU time",
)
FRAMES = Figure("frames sent by the client", "frames/s", "by its port")


def run(trials: int) -> dict[str, Any]:
    """Client and server stay up for all trials."""
    if len(cpus()) < 2:
        raise StackcostError("one CPU only", "give the benchmark a CPU for each side")
    measured = [Measured(CPS), Measured(WHOLE_CORE), Measured(FRAMES)]
    with ExitStack() as stack:
        # Another run's hugepages would be taken for this one's, and its cores are these.
        stack.enter_context(RunLock())
        stack.enter_context(ending_signals_raise())
        stack.callback(undo_and_report)
        hugepages.reserve(hugepages.USUAL_COUNT)
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
        for trial in range(trials):
            seen = highest(client, server)
            values = (seen.connections, seen.connections / seen.core_share, seen.frames)
            for one, value in zip(measured, values, strict=True):
                one.trials.append(value)
            say(trial, trials, f"{number(seen.connections)} connections/s")
    return report(measured)


def highest(client: Driven, server: Driven) -> Rates:
    """Rates at the highest load kept up with, by bisection.

    A load beyond what the server's end can do fills the rings, and frames are lost.
    """
    client.client.load_profile(PROFILES / PROFILE, {})
    kept, low, high = None, 0.0, float(OVERLOAD_CPS)
    while high - low > STEP * high:
        offered = (low + high) / 2
        try:
            kept, low = in_one_try(client, server, offered), offered
        except StackcostError as reason:
            high = offered
            if high < LEAST_CPS:
                raise StackcostError(f"{reason}: do others use these CPUs?") from reason
    assert kept is not None
    return kept


def in_one_try(client: Driven, server: Driven, offered: float) -> Rates:
    """Rates at an offered load in the first try that keeps up with it."""
    for _ in range(TRIES - 1):
        with suppress(StackcostError):
            return at_load(client, server, offered)
    return at_load(client, server, offered)


def at_load(client: Driven, server: Driven, offered: float) -> Rates:
    """Rates at an offered load; StackcostError when it was not kept up with.

    The server begins anew each time: flows that the client left in mid-air are in nobody's way.
    """
    what = f"{offered:,.0f} connections/s over memif"
    with serving(server, PROFILE):
        seen = rates_at(client, offered, what)
    if seen.connections < KEPT * offered:
        raise StackcostError(f"{what}: {seen.connections:,.0f} were completed")
    return seen


def memif(role: str, socket: str, address: str, gateway: str) -> Port:
    """One end of the shared memory; the server makes the socket.

    Rings of 16,384 frames: what arrives while the other core is away for some milliseconds. Their
    buffers are small, or each frame would meet memory that has left the caches: 64 MB for both
    rings by default; the frames here have 54 to 78 bytes, longer ones take several buffers.
    """
    rings = "rsize=14,bsize=256"
    device = f"--vdev=net_memif0,role={role},socket={socket},socket-abstract=no,{rings}"
    return Port(device, address, gateway)
