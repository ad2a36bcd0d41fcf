"""A capture gives its right payload, or one sentence with file, packet and reason."""

import base64
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap, wrpcap, wrpcapng

from stackcost.contracts.errors import StackcostError
from stackcost.trex.client import TrexClient
from tests.trex.conftest import REPOSITORY

PROFILE = """
import argparse
from trex.astf.api import *
class Capture:
    def get_profile(self, tunables, **kwargs):
        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=["16.0.0.1", "16.0.0.9"], distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=["48.0.0.1", "48.0.0.9"], distribution="seq"),
        )
        return ASTFProfile(default_ip_gen=addresses, cap_list=[ASTFCapInfo(file=%r, cps=1)])
def register():
    return Capture()
"""
ASKS, ANSWERS = b"GET / HTTP/1.1\r\n\r\n", b"y" * 2041


def flow(client: int = 1000, server: int = 2000) -> list[Packet]:
    """A connection whose last data comes with the FIN; the initial sequence numbers are given."""
    there = Ether() / IP(src="16.0.0.1", dst="48.0.0.1")
    back = Ether() / IP(src="48.0.0.1", dst="16.0.0.1")

    def asks(flags: str, after: int, data: bytes = b"") -> Packet:
        ports = TCP(sport=1025, dport=80, flags=flags, seq=(client + after) % 2**32)
        return there / ports / Raw(data)

    def answers(flags: str, after: int, data: bytes = b"") -> Packet:
        ports = TCP(sport=80, dport=1025, flags=flags, seq=(server + after) % 2**32)
        return back / ports / Raw(data)

    return [
        asks("S", 0),
        answers("SA", 0),
        asks("A", 1),
        asks("PA", 1, ASKS),
        answers("A", 1, ANSWERS[:1448]),
        answers("FPA", 1449, ANSWERS[1448:]),
        asks("FA", 1 + len(ASKS)),
        answers("A", 2 + len(ANSWERS)),
    ]


def payload(client: TrexClient, capture: Path) -> list[bytes]:
    profile = capture.with_suffix(".py")
    profile.write_text(PROFILE % str(capture))
    return [base64.b64decode(each) for each in client.profile_json(profile)["buf_list"]]


@pytest.mark.parametrize("start", [1000, 2**32 - 1, 2**32 - 700, 2**31])
@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_the_payload_is_whole_wherever_the_sequence_starts(
    client: TrexClient, tmp_path: Path, form: str, start: int
) -> None:
    capture = tmp_path / f"a{start}.{form}"
    (wrpcap if form == "pcap" else wrpcapng)(str(capture), flow(start, start))
    assert payload(client, capture) == [ASKS, ANSWERS]


def bad(folder: Path, what: str) -> Path:
    capture, packets = folder / f"{what}.pcap", flow()
    if what == "lost":
        del packets[4]
    if what == "again":
        packets.insert(5, packets[4])
    if what == "other":
        packets.append(Ether() / IP(src="16.0.0.2") / TCP(flags="A"))
    wrpcap(str(capture), packets)
    content = capture.read_bytes()
    if what == "snapped":
        for packet in packets:  # the last packet with data, cut by 35 bytes
            packet.wirelen = len(packet)
        packets[5] = Ether(bytes(packets[5])[:-35])
        packets[5].wirelen = len(bytes(flow()[5]))
        wrpcap(str(capture), packets)
        assert rdpcap(str(capture))[5].wirelen == len(bytes(flow()[5]))
    elif what == "short":
        capture.write_bytes(content[:-20])
    elif what == "empty":
        capture.write_bytes(content[:24])
    elif what == "text":
        capture.write_text("1 0.0 16.0.0.1 48.0.0.1 TCP")
    elif what == "nothing":
        capture.write_bytes(b"")
    elif what == "link":
        capture.write_bytes(content[:20] + struct.pack("<I", 101) + content[24:])
    return capture


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("snapped", "packet 6: .* bytes were kept"),
        ("lost", "packet 5: bytes before it are missing"),
        ("again", "packet 6: it repeats earlier bytes"),
        ("other", "packet 9: it is of another flow"),
        ("short", "cut or damaged after packet 7"),
        ("empty", "it has no packets"),
        ("text", "neither a pcap nor a pcapng file"),
        ("nothing", "neither a pcap nor a pcapng file"),
        ("link", "not Ethernet"),
    ],
)
def test_a_bad_capture_is_one_sentence(
    client: TrexClient, tmp_path: Path, what: str, said: str
) -> None:
    capture = bad(tmp_path, what)
    with pytest.raises(StackcostError, match=f"{what}.pcap: .*{said}") as caught:
        payload(client, capture)
    assert "Traceback" not in str(caught.value)


ETHERNET, COOKED = 1, 113  # link types


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def interface(link: int) -> bytes:
    return block(1, struct.pack("<HHI", link, 0, 0))


def enhanced(packet: Packet, number: int, port: int) -> bytes:
    frame = bytes(packet)
    head = struct.pack("<IIIII", port, 0, number * 1000, len(frame), len(frame))
    return block(6, head + frame)


def obsolete(packet: Packet, number: int, port: int) -> bytes:
    frame = bytes(packet)
    head = struct.pack("<HHIIII", port, 7, 0, number * 1000, len(frame), len(frame))
    return block(2, head + frame)


def pcapng(folder: Path, *blocks: bytes) -> Path:
    capture = folder / "a.pcapng"
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    capture.write_bytes(section + b"".join(blocks))
    return capture


@pytest.mark.parametrize("links", [(COOKED, ETHERNET), (ETHERNET, COOKED)])
def test_an_interface_of_another_link_type_may_stand_in_the_file(
    client: TrexClient, tmp_path: Path, links: tuple[int, ...]
) -> None:
    used = links.index(ETHERNET)
    packets = [enhanced(packet, number, used) for number, packet in enumerate(flow())]
    capture = pcapng(tmp_path, *map(interface, links), *packets)
    assert payload(client, capture) == [ASKS, ANSWERS]


def test_a_packet_of_another_link_type_is_named(client: TrexClient, tmp_path: Path) -> None:
    packets = [enhanced(packet, number, number == 3) for number, packet in enumerate(flow())]
    capture = pcapng(tmp_path, interface(ETHERNET), interface(COOKED), *packets)
    with pytest.raises(StackcostError, match=r"packet 4: .*not Ethernet \(link type 113, not 1\)"):
        payload(client, capture)


@pytest.mark.parametrize("form", [enhanced, obsolete])
def test_a_packet_block_may_be_of_the_obsolete_form(
    client: TrexClient, tmp_path: Path, form: Callable[[Packet, int, int], bytes]
) -> None:
    packets = [form(packet, number, 0) for number, packet in enumerate(flow())]
    capture = pcapng(tmp_path, interface(ETHERNET), *packets)
    assert payload(client, capture) == [ASKS, ANSWERS]


@pytest.mark.parametrize("tags", ["8100", "88a8", "88a8 8100", "8100 8100", "9100 8100"])
def test_vlan_tags_are_taken_off(client: TrexClient, tmp_path: Path, tags: str) -> None:
    capture, packets = tmp_path / "tagged.pcap", []
    for packet in map(bytes, flow()):
        inserted = b"".join(bytes.fromhex(tag) + b"\x00\x64" for tag in tags.split())
        packets.append(Raw(packet[:12] + inserted + packet[12:]))
    wrpcap(str(capture), packets, linktype=ETHERNET)
    assert payload(client, capture) == [ASKS, ANSWERS]


def test_the_shipped_captures_pass(client: TrexClient) -> None:
    for profile in ("http_cap.py", "enterprise_mix.py"):
        assert client.profile_json(REPOSITORY / "trex_profiles" / profile)["buf_list"]
