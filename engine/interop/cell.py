"""One cell of the interoperability matrix: some flows between engine and kernel, all compared."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.interop.bed import (
    ENGINE_ADDRESS,
    ENGINE_ADDRESS_V6,
    HOST,
    HOST_ADDRESS,
    HOST_ADDRESS_V6,
)
from stackcost.bed.local import LocalTestbed
from stackcost.host.namespace import execute
from stackcost.trex.client import TrexClient

FLOWS_PROFILE = Path(__file__).with_name("flows.py")
PEER = Path(__file__).with_name("peer.py")
PORT = 5001
TIMEOUT_S = 90.0
NO_CLIENTS = 0

# TCPI_OPT_*, include/uapi/linux/tcp.h
TIMESTAMPS, SACK, SCALING, ECN = 1, 2, 4, 8
SYSCTLS = {
    TIMESTAMPS: "net.ipv4.tcp_timestamps",
    SACK: "net.ipv4.tcp_sack",
    SCALING: "net.ipv4.tcp_window_scaling",
    ECN: "net.ipv4.tcp_ecn",
}
ALL_OPTIONS = TIMESTAMPS | SACK | SCALING | ECN
NAMES = {TIMESTAMPS: "timestamps", SACK: "SACK", SCALING: "scaling", ECN: "ECN"}


@dataclass(frozen=True)
class Cell:
    """What runs: `flows` flows at once that carry `size` bytes each way.

    `options`: TCPI_OPT_* bits that the kernel's end offers and takes; the engine's offers all but
    what `tunables` (arguments of the profile) turn off. `lossy`: the wire loses frames.
    """

    engine_is_server: bool
    options: int
    size: int
    flows: int
    lossy: bool = False
    tunables: tuple[tuple[str, int], ...] = ()
    ipv6: bool = False


def run_cell(cell: Cell, bed: LocalTestbed, client: TrexClient) -> dict[str, Any]:
    """Run it; returns what both sides saw, and under "fault" what is not whole, or None."""
    set_options(cell.options)
    tunables = {
        "size": cell.size,
        "port": PORT,
        "cps": max(100, cell.flows),
        "ipv6": int(cell.ipv6),
        **dict(cell.tunables),
    }
    since = time.monotonic()
    client.clear_stats()
    if cell.engine_is_server:
        client.load_profile(FLOWS_PROFILE, tunables)
        client.start(1, client_mask=NO_CLIENTS)
        endings = collect(start_peer(cell, bed, "client"), cell.flows)
        settle(client, cell.flows)
    else:
        peer = start_peer(cell, bed, "server")
        client.load_profile(FLOWS_PROFILE, {**tunables, "limit": cell.flows})
        client.start(1)
        endings = collect(peer, cell.flows)
        settle(client, cell.flows)
    counters = client.stats()["traffic"]["server" if cell.engine_is_server else "client"]
    client.stop()
    return {
        "engine": "server" if cell.engine_is_server else "client",
        **{name: bool(cell.options & bit) for bit, name in NAMES.items()},
        "bytes_each_way": cell.size,
        "flows": cell.flows,
        "ipv6": cell.ipv6,
        "tunables": dict(cell.tunables),
        "whole_flows": sum(ending["whole"] for ending in endings),
        "seconds": round(time.monotonic() - since, 2),
        "slowest_flow_seconds": round(max((e["seconds"] for e in endings), default=0), 3),
        "options_agreed": sorted({ending["options"] & ALL_OPTIONS for ending in endings}),
        "kernel_retransmitted_segments": sum(ending["retransmitted"] for ending in endings),
        "engine_counters": {name: value for name, value in counters.items() if value},
        "fault": fault(cell, endings, counters),
    }


def fault(cell: Cell, endings: list[dict[str, Any]], counters: dict[str, int]) -> str | None:
    """What is wrong, in words."""
    if len(endings) != cell.flows:
        return f"{len(endings)} of {cell.flows} flows ended in {TIMEOUT_S:g} s"
    for ending in endings:
        if not ending["whole"]:
            error = ending["error"] or "other bytes, or no FIN after them"
            return f"kernel's end: {error} after {ending['received']} bytes"
    for name in ("tcps_rcvbyte", "tcps_rcvackbyte"):
        if counters[name] != cell.flows * cell.size:
            return f"engine: {name} is {counters[name]}, not {cell.flows * cell.size}"
    for name in ("tcps_connects", "tcps_closed"):
        if counters[name] != cell.flows:
            return f"engine: {name} is {counters[name]}, not {cell.flows}"
    for name in ("tcps_drops", "tcps_conndrops", "tcps_rcvacktoomuch", "tcps_badsyn"):
        if counters[name]:
            return f"engine: {name} is {counters[name]}"
    wanted = cell.options
    off = dict(cell.tunables)
    if not off.get("rfc1323", 1):
        wanted &= ~(TIMESTAMPS | SCALING)
    if not off.get("sack", 1):
        wanted &= ~SACK
    if not off.get("ecn", 1):
        wanted &= ~ECN
    # A lost SYN comes again without ECN, in case it was lost for it (RFC 3168 section 6.1.1.1).
    fine = {wanted, wanted & ~ECN} if cell.lossy else {wanted}
    agreed = {ending["options"] & ALL_OPTIONS for ending in endings}
    return None if agreed <= fine else f"agreed on options {agreed}, wanted {wanted}"


def set_options(options: int) -> None:
    """Let the host's kernel use these TCP options and no other ones."""
    for bit, name in SYSCTLS.items():
        execute(HOST, ["sysctl", "-q", "-w", f"{name}={int(bool(options & bit))}"])


def start_peer(cell: Cell, bed: LocalTestbed, role: str) -> "subprocess.Popen[str]":
    """The kernel's end; as server it listens on return."""
    engine, host = (
        (ENGINE_ADDRESS_V6, HOST_ADDRESS_V6) if cell.ipv6 else (ENGINE_ADDRESS, HOST_ADDRESS)
    )
    address = engine if role == "client" else host
    command = [sys.executable, str(PEER), role, address, str(PORT), str(cell.size), str(cell.flows)]
    peer = bed.run(HOST, command, bed.cpus.server, stdout=subprocess.PIPE, text=True)
    if role == "server":
        assert peer.stdout is not None
        assert peer.stdout.readline() == "listening\n"
    return peer


def collect(peer: "subprocess.Popen[str]", flows: int) -> list[dict[str, Any]]:
    """The endings of all flows, or of those that ended in time."""
    try:
        printed, _ = peer.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        peer.kill()
        printed, _ = peer.communicate()
    return [json.loads(line) for line in printed.splitlines()][:flows]


def settle(client: TrexClient, flows: int) -> None:
    """Wait until the engine's ends of the flows are gone too: TIME_WAIT, the last ACK."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        traffic = client.stats()["traffic"]
        if traffic["client"]["tcps_closed"] + traffic["server"]["tcps_closed"] >= flows:
            return
        time.sleep(0.05)
