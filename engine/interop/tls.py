"""The TLS matrix: the engine's TLS against other implementations, in both roles.

Every peer with both versions, groups, three ciphers, certificates of both kinds, in full and
resumed, over a clean wire and over one that loses and reorders. Not every combination is run, but
every pair of values of two axes. Run by `script/bench interop --tls`.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.interop.bed import Wire, engine_on, host_behind_router
from engine.interop.cell import NO_CLIENTS
from engine.interop.payload import page
from engine.interop.table import tls_table
from engine.interop.tls_peers import PEERS, PORT, SIZE, VERSIONS, Peer, running
from stackcost.bed.local import LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import P256, RSA, Certificate
from stackcost.host.waiting import wait_until
from stackcost.trex.client import TrexClient

FLOWS_PROFILE = Path(__file__).with_name("tls_flows.py")
WIRES = {"clean": Wire(), "1 % loss, 1 % reordered": Wire(loss=10, reordering=10)}
OPENED, FETCHED, PAGES = 40, 4, 1  # flows of a cell: the engine's, a client's, a browser's
CPS, FIRST_CPS = 20, 0.001  # the latter opens one, and each later one when that before has ended
TIMEOUT_S = 60.0
CERTIFICATES: dict[Certificate, str] = {P256: "P-256", RSA: "RSA-2048"}  # by the engine's names


@dataclass(frozen=True)
class Kind:
    """What a connection is to be like."""

    version: str
    group: str
    cipher: str
    certificate: Certificate
    resumed: bool

    def asked(self) -> dict[str, Any]:
        """For stackcost_set_tls."""
        # In TLS 1.2 a certificate of P-256 needs that group, too (RFC 8422 section 5.1.1).
        also = ":P-256" if self.version == "1.2" and self.certificate == P256 else ""
        return {
            "version": self.version,
            "group": self.group + (also if self.group != "P-256" else ""),
            "cipher": suite(self),
            "certificate": CERTIFICATES[self.certificate],
            "resumption": self.resumed,
        }


def suite(kind: Kind) -> str:
    """The library's name of the cipher suite."""
    if kind.version == "1.3":
        return {
            "AES-128": "TLS_AES_128_GCM_SHA256",
            "AES-256": "TLS_AES_256_GCM_SHA384",
            "ChaCha20": "TLS_CHACHA20_POLY1305_SHA256",
        }[kind.cipher]
    signed = "ECDSA" if kind.certificate == P256 else "RSA"
    return (
        f"ECDHE-{signed}-"
        + {
            "AES-128": "AES128-GCM-SHA256",
            "AES-256": "AES256-GCM-SHA384",
            "ChaCha20": "CHACHA20-POLY1305",
        }[kind.cipher]
    )


# Every pair of values of two of the four axes, and each version with all of them.
KINDS = tuple(
    Kind(version, *axes)
    for version in VERSIONS
    for axes in (
        ("X25519", "AES-128", P256, False),
        ("P-256", "AES-128", RSA, True),
        ("X25519", "AES-256", RSA, False),
        ("P-256", "AES-256", P256, True),
        ("X25519", "ChaCha20", P256, True),
        ("P-256", "ChaCha20", RSA, False),
    )
)


def cannot(peer: Peer, engine_is_server: bool, kind: Kind) -> str:
    """Why this cell is not run; empty if it is."""
    if why := peer.lacks():
        return why
    if engine_is_server:
        return peer.not_client or (peer.no_tickets.get(kind.version, "") if kind.resumed else "")
    return peer.not_server


def serve(client: TrexClient, bed: LocalTestbed, peer: Peer, kind: Kind, folder: Path) -> str:
    """The engine as server, the peer as client; returns what is wrong, or nothing."""
    assert peer.fetch is not None
    client.load_profile(FLOWS_PROFILE, {"size": SIZE, "port": PORT})
    client.call("stackcost_set_tls", {"profile_id": "_", **kind.asked()})
    client.start(1, client_mask=NO_CLIENTS)
    count = PAGES if peer.name == "Chromium" else FETCHED
    try:
        bodies = peer.fetch(bed, folder, count, kind.resumed)
    except StackcostError as error:
        return str(error)
    told = told_of(client, "server")
    whole = sum(body == page(SIZE) for body in bodies)
    return wrong(
        {
            "whole pages": (whole, count),
            "failed": (told["failed"], 0),
            "with resumed sessions": (told["handshakes_resumed"] > 0, kind.resumed),
        }
    )


def open_flows(client: TrexClient, peer: Peer, kind: Kind, head: int | None) -> str:
    """The engine as client, the peer as server; returns what is wrong, or nothing."""
    if head is None:
        return "it does not serve the page to Python's client"
    length = head + SIZE
    asked = {"size": SIZE, "port": peer.served, "peer_head": 1, "head": head, "limit": OPENED}
    cps = FIRST_CPS if kind.resumed else CPS
    client.load_profile(FLOWS_PROFILE, {**asked, "echo": int(peer.echo), "cps": cps})
    client.call("stackcost_set_tls", {"profile_id": "_", **kind.asked()})
    check = {"profile_id": "_", "enabled": True, "skip_bytes": head}
    client.call("stackcost_set_payload_check", check)

    def closed() -> int:
        return int(client.stats()["traffic"]["client"]["tcps_closed"])

    client.start(1)
    if kind.resumed and wait_until(lambda: closed() >= 1, TIMEOUT_S):
        client.call("stackcost_hold_flows", {"profile_id": "_", "flows": 1})
    wait_until(lambda: closed() >= OPENED, TIMEOUT_S)
    seen = client.stats()["traffic"]["client"]
    told = told_of(client, "client")
    (checked,) = client.call("stackcost_get_payload_check", {"profile_id": "_"})["templates"]
    return wrong(
        {
            "connections": (seen["tcps_connects"], OPENED),
            "closed": (seen["tcps_closed"], OPENED),
            "dropped": (seen["tcps_drops"] + seen["tcps_conndrops"], 0),
            "failed": (told["failed"], 0),
            # Each begins when the one before has ended, and so has a ticket but for the first one.
            "in full": (told["handshakes_full"], 1 if kind.resumed else OPENED),
            "resumed": (told["handshakes_resumed"], OPENED - 1 if kind.resumed else 0),
            "bytes": (told["received_bytes"], OPENED * length),
            "compared bytes": (checked["client"]["compared_bytes"], OPENED * SIZE),
            "other bytes": (checked["client"]["mismatched_bytes"], 0),
        }
    )


def told_of(client: TrexClient, side: str) -> dict[str, Any]:
    """What the engine counted of TLS on its side."""
    (template,) = client.call("stackcost_get_tls", {"profile_id": "_"})["templates"]
    return dict(template[side])


def wrong(seen: dict[str, tuple[Any, Any]]) -> str:
    """In words, which of what was seen is not what it should be."""
    return ", ".join(
        f"{name}: {value}, not {wanted}"
        for name, (value, wanted) in seen.items()
        if value != wanted
    )


def run_role(engine_is_server: bool, name: str, wanted: list[str]) -> Iterator[dict[str, Any]]:
    """All cells of one role over one wire, on a bed of their own."""
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-interop-") as place,
        host_behind_router(WIRES[name]) as bed,
        engine_on(bed, Path(place), server=engine_is_server) as client,
    ):
        for certificate in CERTIFICATES:
            folder = Path(place) / certificate
            folder.mkdir()
            with running(bed, folder, certificate) as heads:
                for peer in PEERS:
                    if wanted and peer.name not in wanted:
                        continue
                    for kind in KINDS:
                        if kind.certificate != certificate:
                            continue
                        skipped, fault = cannot(peer, engine_is_server, kind), ""
                        if not skipped:
                            fault = (
                                serve(client, bed, peer, kind, folder)
                                if engine_is_server
                                else open_flows(client, peer, kind, heads[peer.name])
                            )
                            client.stop()
                        yield {
                            "engine": "server" if engine_is_server else "client",
                            "wire": name,
                            "peer": peer.name,
                            **vars(kind),
                            "skipped": skipped,
                            "fault": fault,
                        }


def main() -> None:
    """Run what is asked for; ends with 1 when a flow was not whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wire", choices=WIRES, action="append", help="only over this one")
    parser.add_argument("--engine", choices=("client", "server"), action="append")
    parser.add_argument("--peer", choices=[peer.name for peer in PEERS], action="append")
    parser.add_argument("--json", type=Path, default=Path("build/interop-tls.json"))
    wanted = parser.parse_args()
    results = []
    for name in wanted.wire or WIRES:
        for role in wanted.engine or ("client", "server"):
            for result in run_role(role == "server", name, wanted.peer or []):
                results.append(result)
                print(line(result), file=sys.stderr, flush=True)
    wanted.json.parent.mkdir(parents=True, exist_ok=True)
    wanted.json.write_text(json.dumps(results, indent=1) + "\n")
    print(tls_table(results))
    sys.exit(any(result["fault"] for result in results))


def line(result: dict[str, Any]) -> str:
    """Progress: one cell in one line."""
    kind = [f"TLS {result['version']}", result["group"], result["cipher"], result["certificate"]]
    kind.append("resumed" if result["resumed"] else "in full")
    end = result["skipped"] or result["fault"] or "whole"
    return (
        f"engine as {result['engine']}, {result['wire']}, {result['peer']}, {' '.join(kind)}: {end}"
    )


if __name__ == "__main__":
    main()
