"""Writes the captures of trex_profiles/enterprise_mix.py, byte for byte the same on every machine.

    python pcaps/make_enterprise.py [folder]        (default: this file's folder)

Each is one flow of an application as a device in the middle sees it: who speaks, how much, in which
turns. Contents are filled up, sizes are typical ones:

enterprise_web.pcap   one GET of 400 bytes and 12,000 bytes of response
enterprise_tls.pcap   TLS 1.3 by sizes (RFC 8446): hello 517, server's flight 3,500, finished 80,
                      request 500, response 8,000
enterprise_dns.pcap   one query of 45 bytes, one answer of 110 (RFC 1035, with EDNS)
enterprise_mail.pcap  SMTP (RFC 5321): greeting, envelope, a message of 6,000 bytes, quit
enterprise_rtp.pcap   half a second of a G.711 call (RFC 3551): 172 bytes each 20 ms, both ways
enterprise_db.pcap    ten queries of 200 bytes with answers of 900 on one connection
enterprise_idle.pcap  a session that says 60 bytes, is answered 60, and stays
"""

import sys
from pathlib import Path

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapWriter

MSS = 1460
GAP_S = 0.0001  # between frames of a TCP connection
VOICE_S = 0.02
CLIENT, SERVER = ("02:00:00:00:00:01", "16.0.0.1"), ("02:00:00:00:00:02", "48.0.0.1")
CLIENT_PORT = 10_000

Turns = list[tuple[str, int]]  # who speaks ("c" or "s"), and how many bytes
MAIL: Turns = [("s", 60), ("c", 25), ("s", 120), ("c", 40), ("s", 15), ("c", 40), ("s", 15)]
MAIL += [("c", 6), ("s", 40), ("c", 6_000), ("s", 50), ("c", 6), ("s", 30)]
TCP_FLOWS: dict[str, tuple[int, Turns]] = {
    "web": (80, [("c", 400), ("s", 12_000)]),
    "tls": (443, [("c", 517), ("s", 3_500), ("c", 80), ("c", 500), ("s", 8_000)]),
    "mail": (25, MAIL),
    "db": (3306, [("c", 200), ("s", 900)] * 10),
    "idle": (5222, [("c", 60), ("s", 60)]),
}
UDP_FLOWS: dict[str, tuple[int, Turns, float]] = {
    "dns": (53, [("c", 45), ("s", 110)], GAP_S),
    "rtp": (16_384, [("c", 172), ("s", 172)] * 25, VOICE_S / 2),
}


def _frame(side: str, transport: Packet, at: float) -> Packet:
    own, other = (CLIENT, SERVER) if side == "c" else (SERVER, CLIENT)
    frame = Ether(src=own[0], dst=other[0])
    frame /= IP(src=own[1], dst=other[1], id=0, flags="DF", ttl=127) / transport
    frame.time = at
    return frame


def _ports(side: str, port: int) -> tuple[int, int]:
    """Source and destination."""
    return (CLIENT_PORT, port) if side == "c" else (port, CLIENT_PORT)


def tcp_flow(port: int, turns: Turns) -> list[Packet]:
    """Handshake, the turns in segments of MSS, each acknowledged, the client closing first."""
    following = {"c": 1_000_000, "s": 2_000_000}
    frames: list[Packet] = []

    def send(side: str, flags: str, data: bytes = b"") -> None:
        other = "s" if side == "c" else "c"
        options = [("MSS", MSS)] if "S" in flags else []
        source, destination = _ports(side, port)
        segment = TCP(
            sport=source,
            dport=destination,
            seq=following[side],
            ack=following[other] if "A" in flags else 0,
            flags=flags,
            window=32_768,
            options=options,
        )
        frames.append(_frame(side, segment / Raw(data) if data else segment, len(frames) * GAP_S))
        following[side] += len(data) + ("S" in flags) + ("F" in flags)

    send("c", "S")
    send("s", "SA")
    send("c", "A")
    for side, size in turns:
        while size:
            part = min(MSS, size)
            size -= part
            send(side, "A" if size else "PA", b"x" * part)
        send("s" if side == "c" else "c", "A")
    send("c", "FA")
    send("s", "FA")
    send("c", "A")
    return frames


def udp_flow(port: int, turns: Turns, gap_s: float) -> list[Packet]:
    """One datagram a turn."""
    frames = []
    for number, (side, size) in enumerate(turns):
        source, destination = _ports(side, port)
        datagram = UDP(sport=source, dport=destination) / Raw(b"x" * size)
        frames.append(_frame(side, datagram, number * gap_s))
    return frames


def flows() -> dict[str, list[Packet]]:
    """Frames of each application."""
    found = {name: tcp_flow(port, turns) for name, (port, turns) in TCP_FLOWS.items()}
    return found | {name: udp_flow(*parts) for name, parts in UDP_FLOWS.items()}


def write(folder: Path) -> list[Path]:
    """Write all captures into `folder`: little endian, microseconds; returns their paths."""
    paths = []
    for name, frames in flows().items():
        paths.append(folder / f"enterprise_{name}.pcap")
        with PcapWriter(str(paths[-1]), endianness="<", linktype=1, sync=True) as capture:
            capture.write(frames)
    return paths


if __name__ == "__main__":
    print(*write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent), sep="\n")
