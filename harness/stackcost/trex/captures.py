"""Checks a capture file before TRex's reader sees it, and hands over what that reader can take.

TRex's reader (lbr-trex-client, cap_handling.py) takes classic pcap files of Ethernet frames. It
shortens a segment that the capture cut, and its sequence numbers neither pass 2^32 nor count a FIN
that comes with data. So the file is read and checked here; the reader gets frames whose sequence
numbers start at 0 and which have no FIN, because it uses only the payload and the time of each.

pcap: draft-ietf-opsawg-pcap. pcapng: draft-ietf-opsawg-pcapng. Sequence numbers: RFC 9293, 3.4.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple

PCAP = {  # by the first four bytes: byte order, and the clock's ticks in a second
    b"\xd4\xc3\xb2\xa1": ("<", 10**6),
    b"\xa1\xb2\xc3\xd4": (">", 10**6),
    b"\x4d\x3c\xb2\xa1": ("<", 10**9),
    b"\xa1\xb2\x3c\x4d": (">", 10**9),
}
PCAPNG = b"\x0a\x0d\x0d\x0a"
BLOCK_ORDER = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
INTERFACE, OBSOLETE, SIMPLE, ENHANCED = 1, 2, 3, 6  # types of pcapng's blocks
IF_TSRESOL = 9  # option of an interface: its clock's resolution
ETHERNET = 1  # LINKTYPE_ETHERNET
VLAN_TAGS = (b"\x81\x00", b"\x88\xa8", b"\x91\x00")  # IEEE 802.1Q, 802.1ad, and before that
FIN, SYN = 0x01, 0x02
ETHER_TYPES = {4: bytes(12) + b"\x08\x00", 6: bytes(12) + b"\x86\xdd"}  # after no addresses
SEQUENCES = 1 << 32
PARTS = ("ethernet", "ip", "ip6", "tcp", "udp", "UnpackError")  # of dpkt, that are used


class Packet(NamedTuple):
    """A frame of a capture. `length`: what it had on the wire, of which `frame` may be a part.

    `link`: the link type of its interface.
    """

    time: float
    frame: bytes
    length: int
    link: int


class CheckedCapture:
    """Stands in for `dpkt.pcap.Reader` in TRex's reader: yields time and frame of each packet.

    ValueError with the file, the packet (from 1, as Wireshark counts) and the reason.
    """

    def __init__(self, file: IO[bytes]):
        self._path = Path(file.name)
        packets = _read(self._path, file.read())
        if not packets:
            raise _fault(self._path, "it has no packets")
        self._packets = list(_checked(self._path, packets))

    def __iter__(self) -> Iterator[tuple[float, bytes]]:
        return iter(self._packets)


def check_captures() -> None:
    """Let TRex's reader, in this process, take its packets from `CheckedCapture`."""
    from trex.astf import cap_handling

    pcap = SimpleNamespace(Reader=CheckedCapture)
    parts = {name: getattr(cap_handling.dpkt, name) for name in PARTS}
    cap_handling.dpkt = SimpleNamespace(**parts, pcap=pcap)


def _fault(path: Path, reason: str, number: int = 0) -> ValueError:
    return ValueError(f"{path}: {f'packet {number}: ' if number else ''}{reason}")


def _read(path: Path, content: bytes) -> list[Packet]:
    """All packets of a pcap or pcapng file."""
    if content[:4] not in PCAP and content[:4] != PCAPNG:
        raise _fault(path, "it is no capture: neither a pcap nor a pcapng file")
    found: list[Packet] = []
    try:
        for packet in (_pcapng if content[:4] == PCAPNG else _pcap)(content):
            found.append(packet)
    except (struct.error, IndexError, KeyError):
        raise _fault(path, f"the file is cut or damaged after packet {len(found)}") from None
    return found


def _pcap(content: bytes) -> Iterator[Packet]:
    order, ticks = PCAP[content[:4]]
    link = struct.unpack_from(f"{order}I", content, 20)[0] & 0xFFFF
    at = 24
    while at < len(content):
        seconds, fraction, kept, length = struct.unpack_from(f"{order}IIII", content, at)
        yield Packet(seconds + fraction / ticks, _part(content, at + 16, kept), length, link)
        at += 16 + kept


def _pcapng(content: bytes) -> Iterator[Packet]:
    order, ports, at = "<", list[tuple[float, int, int]](), 0
    while at < len(content):
        if content[at : at + 4] == PCAPNG:
            order, ports = BLOCK_ORDER[content[at + 8 : at + 12]], []
        kind, size = struct.unpack_from(f"{order}II", content, at)
        block = _part(content, at + 8, size - 12)
        if kind == INTERFACE:
            link, _, snap = struct.unpack_from(f"{order}HHI", block)
            ports.append((_resolution(order, block[8:]), snap, link))
        elif kind in (ENHANCED, OBSOLETE):  # the latter has a count of drops beside its interface
            number = struct.unpack_from(f"{order}{'I' if kind == ENHANCED else 'H'}", block)[0]
            high, low, kept, length = struct.unpack_from(f"{order}IIII", block, 4)
            tick, _, link = ports[number]
            yield Packet(((high << 32) + low) * tick, _part(block, 20, kept), length, link)
        elif kind == SIMPLE:
            (length,) = struct.unpack_from(f"{order}I", block)
            _, snap, link = ports[0]
            yield Packet(0.0, _part(block, 4, min(length, snap or length)), length, link)
        at += size


def _resolution(order: str, options: bytes) -> float:
    """Seconds of a tick of an interface's clock: a power of 10, or of 2 with the highest bit."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(f"{order}HH", options, at)
        if code == IF_TSRESOL:
            exponent = options[at + 4]
            return float(2.0 ** -(exponent & 0x7F) if exponent & 0x80 else 10.0**-exponent)
        at += 4 + (size + 3) // 4 * 4
    return 1e-6


def _part(content: bytes, at: int, size: int) -> bytes:
    """So many bytes; IndexError if there are fewer."""
    if size < 0 or at + size > len(content):
        raise IndexError(at)
    return content[at : at + size]


def _untagged(frame: bytes) -> bytes:
    """The frame without its VLAN tags: dpkt knows one of 802.1Q at most."""
    at = 12
    while frame[at : at + 2] in VLAN_TAGS:
        at += 4
    return frame[:12] + frame[at:]


def _checked(path: Path, packets: list[Packet]) -> Iterator[tuple[float, bytes]]:
    """The packets of one flow as TRex's reader takes them."""
    from trex.astf import cap_handling  # its dpkt: TRex's client brings one along

    dpkt = cap_handling.dpkt
    flow: frozenset[Any] = frozenset()
    first: dict[Any, int] = {}  # initial sequence number of each end
    sent: dict[Any, int] = {}  # numbers that it has used since: SYN, payload and FIN
    payloads: dict[Any, int] = {}
    for number, packet in enumerate(packets, 1):
        if packet.link != ETHERNET:
            kind = f"(link type {packet.link}, not {ETHERNET})"
            raise _fault(path, f"its frame is not Ethernet {kind}", number)
        if len(packet.frame) < packet.length:
            kept = f"{len(packet.frame)} of its {packet.length} bytes were kept"
            raise _fault(path, f"{kept}; capture it again without a snap length", number)
        try:
            frame = dpkt.ethernet.Ethernet(_untagged(packet.frame))
        except dpkt.UnpackError:
            raise _fault(path, "its headers are cut or damaged", number) from None
        ip = frame.data
        if not isinstance(ip, dpkt.ip.IP | dpkt.ip6.IP6):
            raise _fault(path, "it is neither IPv4 nor IPv6", number)
        stated = ip.len if isinstance(ip, dpkt.ip.IP) else ip.plen and 40 + ip.plen
        if stated > len(ip):
            raise _fault(path, f"its IP header says {stated} bytes, {len(ip)} are there", number)
        if isinstance(ip, dpkt.ip.IP) and ip.off & 0x3FFF:
            raise _fault(path, "it is a fragment", number)
        segment = ip.data
        if not isinstance(segment, dpkt.tcp.TCP | dpkt.udp.UDP):
            raise _fault(path, "it is neither whole TCP nor whole UDP", number)
        source, to = (ip.src, segment.sport), (ip.dst, segment.dport)
        ends = frozenset((type(segment), source, to))
        flow = flow or ends
        if flow != ends:
            raise _fault(path, "it is of another flow; a capture has one flow only", number)
        if isinstance(segment, dpkt.tcp.TCP):
            size, flags = len(segment.data), segment.flags
            if flags & SYN:
                if size:
                    raise _fault(path, "its SYN has data, which TRex cannot replay", number)
                first.setdefault(source, segment.seq)
                sent.setdefault(source, 1)
            elif len(first) < 2:
                raise _fault(path, "it comes before SYN and SYN+ACK, with which TCP starts", number)
            wanted = 0 if flags & SYN else sent[source]
            ahead = (segment.seq - first[source] - wanted) % SEQUENCES
            if ahead:
                lost = ahead < SEQUENCES // 2
                what = "bytes before it are missing" if lost else "it repeats earlier bytes"
                raise _fault(path, what, number)
            segment.seq = 0 if flags & SYN else 1 + payloads.get(source, 0)
            segment.flags = flags & ~FIN
            payloads[source] = payloads.get(source, 0) + size
            if not flags & SYN:
                sent[source] += size + bool(flags & FIN)
        yield packet.time, ETHER_TYPES[ip.v] + bytes(ip)
    if len(first) == 1:
        raise _fault(path, "it has no SYN+ACK")
    if not any(payloads.values()) and first:
        raise _fault(path, "no packet has payload")
