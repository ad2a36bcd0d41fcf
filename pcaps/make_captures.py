"""Writes the captures that the profiles use, byte for byte the same on every machine.

    python pcaps/make_captures.py [folder]        (default: this file's folder)

http_32k.pcap: one HTTP connection as trex_profiles/http_program.py makes it at its defaults: a
request of exactly 100 bytes, a response of exactly 32,000 bytes with its headers, MSS 1460, two
segments in the first flight, one ACK a flight, the client closing first.
"""

import sys
from pathlib import Path

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapWriter

REQUEST_BYTES = 100
RESPONSE_BYTES = 32_000
MSS = 1460
FIRST_FLIGHT = 2  # segments; doubled every round trip, as slow start does
HALF_ROUND_TRIP = 5_000  # microseconds between the last frame one way and the first back
FRAME_GAP = 12  # microseconds between frames of one flight, near 1 Gbit/s

CLIENT = ("02:00:00:00:00:01", "16.0.0.1", 10_000, 1_000_000)  # MAC, address, port, first sequence
SERVER = ("02:00:00:00:00:02", "48.0.0.1", 80, 2_000_000)


def request() -> bytes:
    """The GET of http_program.py, padded by its User-Agent."""
    start, end = b"GET / HTTP/1.1\r\nHost: 48.0.0.1\r\nUser-Agent: ", b"\r\n\r\n"
    return start + b"x" * (REQUEST_BYTES - len(start) - len(end)) + end


def response() -> bytes:
    """Status line, headers and as many x as make the whole RESPONSE_BYTES long."""
    form = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
    body = RESPONSE_BYTES - len(form % RESPONSE_BYTES)  # five digits before and after
    return (form % body).encode() + b"x" * body


class Connection:
    """The frames of one TCP connection, each side's sequence number kept as it speaks."""

    def __init__(self) -> None:
        self.frames: list[Packet] = []
        self._next = {CLIENT: CLIENT[3], SERVER: SERVER[3]}
        self._microseconds = 0
        self._last_sender = CLIENT

    def send(self, sender: tuple[str, str, int, int], flags: str, data: bytes = b"") -> None:
        """Append one frame; SYN and FIN take one sequence number each (RFC 9293 section 3.4)."""
        receiver = SERVER if sender is CLIENT else CLIENT
        if self.frames:
            self._microseconds += FRAME_GAP if sender is self._last_sender else HALF_ROUND_TRIP
        self._last_sender = sender
        frame = (
            Ether(src=sender[0], dst=receiver[0])
            / IP(src=sender[1], dst=receiver[1], id=0, flags="DF", ttl=127)
            / TCP(
                sport=sender[2],
                dport=receiver[2],
                seq=self._next[sender],
                ack=self._next[receiver] if "A" in flags else 0,
                flags=flags,
                window=32_768,
                options=[("MSS", MSS)] if "S" in flags else [],
            )
        )
        if data:
            frame /= Raw(data)
        frame.time = self._microseconds / 1e6
        self.frames.append(frame)
        self._next[sender] += len(data) + ("S" in flags) + ("F" in flags)


def http_connection() -> list[Packet]:
    """Handshake, request, response in flights of slow start, and the close."""
    connection = Connection()
    connection.send(CLIENT, "S")
    connection.send(SERVER, "SA")
    connection.send(CLIENT, "A")
    connection.send(CLIENT, "PA", request())

    body = response()
    segments = [body[at : at + MSS] for at in range(0, len(body), MSS)]
    flight = FIRST_FLIGHT
    while segments:
        sent, segments = segments[:flight], segments[flight:]
        for segment in sent[:-1]:
            connection.send(SERVER, "A", segment)
        connection.send(SERVER, "A" if segments else "PA", sent[-1])
        connection.send(CLIENT, "A")
        flight *= 2

    connection.send(CLIENT, "FA")
    connection.send(SERVER, "FA")
    connection.send(CLIENT, "A")
    return connection.frames


def write(folder: Path) -> Path:
    """Write http_32k.pcap into `folder`: little endian, microseconds, and return its path."""
    path = folder / "http_32k.pcap"
    with PcapWriter(str(path), endianness="<", linktype=1, sync=True) as capture:
        capture.write(http_connection())
    return path


if __name__ == "__main__":
    print(write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent))
