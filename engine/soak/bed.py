"""Engines for a soak, and what they hold when nothing runs."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackcost.contracts.wiring import Port
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.trex_config import TrexConfig

RPC_PORTS = (15501, 15500)  # apart from generators and benchmarks that may be in use beside
FLOWS = 140_000  # ends; a client address' ports are 64,512, so ports can run out before flows do
# What must be given back when a run has ended, by stackcost_get_memory and by ports.
BUFFERS = "packet_buffers_in_use"
BURST = 64  # buffers that a transmit queue keeps from when it first sent so many frames at once


@dataclass(frozen=True)
class End:
    """One engine, the client that owns it, and those of its ports that lead somewhere."""

    name: str
    generator: AstfServer
    client: TrexClient
    ports: tuple[int, ...]

    def held(self) -> dict[str, int]:
        """Objects in use: flows, extensions, variables, client ports, timers, packet buffers.

        Of packet buffers, those beyond what a port's transmit queue keeps for itself.
        """
        pools = self.client.call("stackcost_get_memory", {})["pools"]
        held = {pool["name"]: pool["in_use"] for pool in pools if pool["name"] not in NOT_HELD}
        names = self.client.call("get_port_xstats_names", {"port_id": 0})["xstats_names"]
        for port in self.ports:
            values = self.client.call("get_port_xstats_values", {"port_id": port})["xstats_values"]
            if (buffers := dict(zip(names, values, strict=True)).get(BUFFERS)) is not None:
                held[f"packet buffers of port {port}"] = max(0, int(buffers) - BURST)
        return held


NOT_HELD = {
    "flow table bucket",  # tables stay as long as they have grown
    "packet buffer",  # counted by port
}


@dataclass(frozen=True)
class Bed:
    """Two ends that traffic goes between; of an in-memory wire they are one."""

    name: str
    opens: End
    serves: End

    @property
    def ends(self) -> tuple[End, ...]:
        """Each engine once."""
        return (self.opens,) if self.opens is self.serves else (self.opens, self.serves)


@contextmanager
def wire_bed(cpus: list[int]) -> Iterator[Bed]:
    """One engine, both of whose ports are the ends of a wire in memory."""
    with ExitStack() as exits:
        wire = Port("wire")
        end = exits.enter_context(_end("wire", (wire, wire), cpus[-1], 0, (0, 1)))
        yield Bed("wire", end, end)


@contextmanager
def memif_bed(cpus: list[int]) -> Iterator[Bed]:
    """Two engines joined by shared memory (memif), each with a thread of its own."""
    with ExitStack() as exits:
        socket = Path(exits.enter_context(tempfile.TemporaryDirectory())) / "memif"
        dummy = Port("dummy")
        server, client = (
            Port(f"--vdev=net_memif0,role={role},socket={socket},socket-abstract=no", *addresses)
            for role, *addresses in (
                ("server", "198.18.0.2", "198.18.0.1"),
                ("client", "198.18.0.1", "198.18.0.2"),
            )
        )
        serves = exits.enter_context(_end("serves", (dummy, server), cpus[0], 10, (1,)))
        opens = exits.enter_context(_end("opens", (client, dummy), cpus[-1], 20, (0,)))
        yield Bed("memif", opens, serves)


@contextmanager
def _end(
    name: str, ports: tuple[Port, Port], cpu: int, offset: int, used: tuple[int, ...]
) -> Iterator[End]:
    rpc, publish = (port + offset for port in RPC_PORTS)
    config = TrexConfig(f"soak-{name}", ports, [cpu], rpc, publish, flows=FLOWS)
    with (
        tempfile.TemporaryDirectory() as folder,
        AstfServer(config, Path(folder)) as generator,
        TrexClient(rpc_port=rpc, async_port=publish) as client,
    ):
        client.connect()
        client.reset()
        yield End(name, generator, client, used)


def drops_of(end: End) -> dict[str, int]:
    """Frames and starts given up since the engine's start, by reason; those that occurred."""
    total: dict[str, int] = {}
    for entry in end.client.call("stackcost_get_drops", {})["cores"]:
        for reason, count in entry["reasons"].items():
            if count:
                total[reason] = total.get(reason, 0) + count
    return total


def impairments_of(end: End) -> dict[str, int]:
    """What impairments did since the engine's start, of all ports and directions."""
    total: dict[str, int] = {}
    told: list[dict[str, Any]] = end.client.call("stackcost_get_impairment", {})["impairments"]
    for entry in told:
        for what, count in entry["counts"].items():
            total[what] = total.get(what, 0) + count
    return total
