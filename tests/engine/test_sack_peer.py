"""What the engine reports by SACK to a sender on the kernel's stack (RFC 2018, RFC 2883)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from scapy.all import TCP, Ether, RawPcapReader

from engine.interop.bed import HOST, Wire, engine_on, host_behind_router
from engine.interop.cell import PORT, SACK, SCALING, TIMESTAMPS, Cell, run_cell
from stackcost.bed.local import LocalTestbed
from stackcost.host.namespace import execute
from tests.rpc.test_pcap import Capturing

pytestmark = [pytest.mark.bed, pytest.mark.long]

OPTIONS = TIMESTAMPS | SACK | SCALING
ENOUGH_BLOCKS = 200
# What the kernel counts when a block tells it that a segment arrived twice.
DUPLICATES = (
    "TCPDSACKRecv",
    "TCPDSACKOfoRecv",
    "TCPDSACKIgnoredOld",
    "TCPDSACKIgnoredNoUndo",
    "TCPDSACKIgnoredDubious",
    "TCPDSACKUndo",
)
# ... and when it takes from that that nothing was lost, only late.
UNDONE = ("TCPSACKReorder", "TCPFullUndo", "TCPPartialUndo")

# Of every hundred frames from the host three are lost, those sent again among them, and no ACK.
LOSSY = """
table inet one_way {
    chain forwarded {
        type filter hook forward priority 1;
        iifname "sc-in0" numgen random mod 100 < 3 drop
    }
}
"""


@dataclass(frozen=True)
class Block:
    """A SACK block of one of the engine's ACKs."""

    acknowledgment: int
    start: int
    end: int

    def is_at_or_below(self) -> bool:
        """Whether a sender takes it for a D-SACK."""
        return (self.start - self.acknowledgment - 1) % (1 << 32) >= 1 << 31


def blocks_sent(file: Path) -> Iterator[Block]:
    """All SACK blocks in a capture that left the engine."""
    with RawPcapReader(str(file)) as reader:
        for frame, _ in reader:
            segment = Ether(frame).getlayer(TCP)
            if segment is None or segment.sport != PORT:
                continue
            edges = dict(segment.options).get("SAck", ())
            for start, end in zip(edges[::2], edges[1::2], strict=True):
                yield Block(segment.ack, start, end)


def kernel_counters() -> dict[str, int]:
    """TcpExt counters of the host (/proc/net/netstat)."""
    lines = execute(HOST, ["cat", "/proc/net/netstat"]).splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith("TcpExt:"))
    return dict(zip(names, map(int, values), strict=True))


def blocks_of_flows(size: int, bed: LocalTestbed, folder: Path) -> list[Block]:
    """What the engine reports while ten flows' `size` bytes come in, from its own capture."""
    flows = Cell(True, OPTIONS, size, flows=10, lossy=True)
    with engine_on(bed, folder, server=True, generator=Capturing) as client:
        client.call("stackcost_start_pcap", {"port_id": 1, "file": "sack.pcap"})
        result = run_cell(flows, bed, client)
        written = client.call("stackcost_stop_pcap", {"port_id": 1})
    assert result["fault"] is None
    return list(blocks_sent(Path(written["file"])))


def told_of_duplicates(blocks: list[Block], counted: tuple[str, ...]) -> dict[str, int]:
    """Blocks that a sender takes for D-SACKs, and what the kernel made of them; without zeros."""
    counters = kernel_counters()
    found = {name: counters[name] for name in counted}
    found["blocks"] = sum(block.is_at_or_below() for block in blocks)
    return {name: value for name, value in found.items() if value}


def test_the_kernel_is_not_told_of_duplicates_while_segments_are_lost(tmp_path: Path) -> None:
    with host_behind_router(Wire()) as bed:
        execute(bed.server_namespace, ["nft", "-f", "-"], stdin=LOSSY)
        blocks = blocks_of_flows(300_000, bed, tmp_path)
        assert len(blocks) > ENOUGH_BLOCKS
        assert kernel_counters()["TCPSackRecovery"] > 0
        assert told_of_duplicates(blocks, DUPLICATES + UNDONE) == {}


def test_nor_while_segments_overtake_each_other(tmp_path: Path) -> None:
    with host_behind_router(Wire(loss=40, reordering=200)) as bed:
        blocks = blocks_of_flows(600_000, bed, tmp_path)
        assert len(blocks) > ENOUGH_BLOCKS
        assert kernel_counters()["TCPSACKReorder"] > 0
        assert told_of_duplicates(blocks, DUPLICATES) == {}
