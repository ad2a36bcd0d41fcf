"""How long a server takes to answer frames, by the kernel's stamps at both ends of a veth."""

import ctypes
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Network

from pyroute2 import netns

from stackcost.contracts.errors import StackcostError

End = tuple[str, str]  # namespace and interface

# Offsets in an Ethernet frame with IPv4 without options (IEEE 802.3, RFC 791) and TCP (RFC 9293).
SOURCE, TARGET, TCP = 26, 30, 34
HEADS = 64  # bytes kept of a frame
IPV4 = 0x0800
SYN = 0x02

# asm-generic/socket.h, linux/if_packet.h, linux/if_ether.h
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
SOL_PACKET, PACKET_STATISTICS = 263, 6
ETH_P_ALL = 0x0003
RECEIVE_BYTES = 512 << 20


class Answers:
    """Watches some clients of a server while it is loaded; what it saw is read afterwards."""

    def __init__(self, at_server: socket.socket, at_client: socket.socket):
        self._at_server = at_server
        self._at_client = at_client

    def delays(self) -> list[float]:
        """Seconds from the arrival of each SYN and request at the server's interface to that of
        its answer at the client's. What was sent twice, or not answered, is left out.

        StackcostError when the kernel kept no room for a frame.
        """
        asked: dict[tuple[bytes, bool], float | None] = {}
        for moment, frame in _frames(self._at_server):
            if key := _key(frame, SOURCE, TCP):
                asked[key] = None if key in asked else moment
        answers = []
        for moment, frame in _frames(self._at_client):
            key = _key(frame, TARGET, TCP + 2)
            begin = asked.pop(key, None) if key else None
            if begin is not None:
                answers.append(moment - begin)
        return answers


@contextmanager
def answers(server: End, client: End, clients: IPv4Network) -> Iterator[Answers]:
    """Watch the frames of `clients` that arrive at both ends of a veth."""
    with (
        _arrivals(server, clients, SOURCE) as asked,
        _arrivals(client, clients, TARGET) as answered,
    ):
        yield Answers(asked, answered)


def _key(frame: bytes, address: int, port: int) -> tuple[bytes, bool] | None:
    """The client's address and port, and whether the frame is part of the handshake.

    None if the frame has neither a SYN nor payload: it asks for no answer, and is none.
    """
    (length,) = struct.unpack_from("!H", frame, 16)
    heads, flags = 20 + (frame[TCP + 12] >> 4) * 4, frame[TCP + 13]
    syn = bool(flags & SYN)
    if not syn and length == heads:
        return None
    return frame[address : address + 4] + frame[port : port + 2], syn


@contextmanager
def _arrivals(end: End, clients: IPv4Network, address: int) -> Iterator[socket.socket]:
    """Incoming IPv4 frames at an interface whose address at this offset is one of `clients`."""
    namespace, interface = end
    program = (  # classic BPF: code, jumps if true and if false, operand (linux/filter.h)
        (0x28, 0, 0, 12),  # the EtherType
        (0x15, 0, 4, IPV4),
        (0x20, 0, 0, address),
        (0x54, 0, 0, int(clients.netmask)),
        (0x15, 0, 1, int(clients.network_address)),
        (0x06, 0, 0, HEADS),  # keep
        (0x06, 0, 0, 0),  # pass over
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    wire = netns.create_socket(namespace, socket.AF_PACKET, socket.SOCK_RAW, 0)
    with wire:
        filter_ = struct.pack("HL", len(program), ctypes.addressof(code))
        wire.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_)
        wire.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
        wire.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        wire.bind((interface, ETH_P_ALL))
        yield wire


def _frames(wire: socket.socket) -> Iterator[tuple[float, bytes]]:
    """Time of arrival in seconds, and the first bytes, of each incoming frame."""
    with suppress(BlockingIOError):
        while True:
            frame, extras, _, source = wire.recvmsg(HEADS, 64, socket.MSG_DONTWAIT)
            if source[2] == socket.PACKET_OUTGOING:
                continue
            for _, kind, value in extras:
                if kind == SO_TIMESTAMPNS:
                    seconds, nanoseconds = struct.unpack("qq", value)
                    yield seconds + nanoseconds / 1e9, frame
    _, lost = struct.unpack("II", wire.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    if lost:
        raise StackcostError(f"{lost} frames found no room in the watching socket's buffer")
