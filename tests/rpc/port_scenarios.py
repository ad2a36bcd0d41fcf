"""What the unmodified TRex client asks of ports.

Run by tests.rpc.forked with the ports of RPC and events in sys.argv[2:]; fails by an exception.
"""

import struct
from ipaddress import IPv4Address
from threading import Thread
from typing import Any

from tests.rpc.client_scenarios import client, http, refused  # with TRex's own scapy, for all

# isort: split
from scapy.all import IP, TCP, UDP, Dot1AD, Dot1Q, Ether, Raw
from trex.astf.topo import ASTFTopology
from trex.astf.trex_astf_client import Tunnel
from trex.astf.tunnels_topo import TunnelsTopo


def marked(port: int = 4053) -> Any:
    """A datagram that nothing but this test sends."""
    return (
        Ether() / IP(src="1.1.1.1", dst="2.2.2.2") / UDP(sport=1000, dport=port) / Raw(b"mark" * 9)
    )


def owner() -> Any:
    """A client that has all ports, out of service mode."""
    c = client()
    c.reset()
    c.set_service_mode(enabled=False)
    return c


def types_of_tags(frame: Any) -> list[int]:
    """The types of a frame's VLAN tags, the outer one first (a Dot1AD is a Dot1Q to scapy)."""
    types, layer = [], frame
    while layer.payload.__class__ in (Dot1Q, Dot1AD):
        types.append(layer.type)
        layer = layer.payload
    return types


def fetched(c: Any, capture: int) -> list[Any]:
    """The frames of a capture, with their records, taken out."""
    records: list[Any] = []
    c.fetch_capture_packets(capture, records)
    return records


def pushed_and_captured() -> None:
    """Packets that a user pushes, seen where they leave and where they arrive."""
    c = owner()
    assert c.map_ports()["map"] == {0: 1, 1: 0}
    both = c.start_capture(tx_ports=[0], rx_ports=[1], bpf_filter="udp dst port 4053")["id"]
    c.push_packets([marked(4053), marked(4054), marked(4053)], ports=[0], force=True)
    c.push_packets([marked(4053)], ports=[1], force=True)
    while (status := c.get_capture_status()[both])["count"] < 4:
        assert status["state"] == "ACTIVE"
    records = fetched(c, both)
    assert sorted((r["origin"], r["port"]) for r in records) == [("RX", 1)] * 2 + [("TX", 0)] * 2
    assert all(Ether(r["binary"])[Raw].load == b"mark" * 9 for r in records)
    c.stop_capture(both)
    assert c.get_capture_status() == {}
    refused("is not a valid pattern", c.start_capture, rx_ports=[0], bpf_filter="no filter at all")
    c.disconnect()


def layer_3() -> None:
    """Addresses of ports are resolved and pinged, without a tag, with one and with two."""
    c = owner()
    c.set_service_mode(enabled=True)
    refused("Could not resolve", c.set_l3_mode, 0, "10.0.0.1", "10.0.0.2")  # nobody is there yet
    for vlan in (None, 30, [100, 30]):
        c.set_service_mode(enabled=True)
        if vlan is not None:
            c.set_vlan(ports=[0, 1], vlan=vlan)
        c.set_l3_mode(1, "10.0.0.2", "10.0.0.1", vlan)
        c.resolve(ports=[0, 1])
        assert c.get_port_attr(0)["dest"] == "10.0.0.2"
        assert c.get_port_attr(0)["arp"] == c.get_port_attr(1)["src_mac"]
        for answer in c.ping_ip(0, "10.0.0.2", count=2, interval_sec=0.1):
            assert answer.state == answer.SUCCESS, answer
        c.set_service_mode(enabled=False)
    c.set_service_mode(enabled=True)
    for answer in c.ping_ip(0, "10.0.0.9", count=1, interval_sec=0.1):  # after a second
        assert answer.state != answer.SUCCESS, answer
    c.set_service_mode(enabled=False)
    c.clear_vlan(ports=[0, 1])
    c.set_service_mode(enabled=True)
    for port, peer in ((0, 1), (1, 0)):
        c.set_l2_mode(port, c.get_port_attr(peer)["src_mac"])
    c.set_service_mode(enabled=False)
    c.disconnect()


def silent_gateway() -> None:
    """Another client is answered while a start waits for a gateway, and that start fails after it.

    A machine that is busy elsewhere may take a second for what comes before the answer, so the
    order has three tries.
    """
    c = owner()
    c.set_service_mode(enabled=True)
    refused("Could not resolve", c.set_l3_mode, 0, "10.0.0.1", "10.0.0.9")
    c.set_service_mode(enabled=False)
    c.load_profile(http())
    other = client("second")

    def state() -> Any:
        other.sync()
        return other.state

    def answered_before_the_error() -> bool:
        failing = Thread(target=refused, args=("does not answer ARP", c.start))
        failing.start()
        while state() != other.STATE_ASTF_BUILD and failing.is_alive():
            pass
        other.ping_rpc_server()
        answered = state() == other.STATE_ASTF_BUILD
        failing.join()
        return answered

    assert any(answered_before_the_error() for _ in range(3))
    c.set_service_mode(enabled=True)
    c.set_l2_mode(0, c.get_port_attr(1)["src_mac"])
    c.set_service_mode(enabled=False)
    other.disconnect()
    c.disconnect()


def ipv6_neighbours() -> None:
    """Ports with IPv6 addresses find each other and answer pings, without a tag and with one."""
    c = owner()
    c.set_service_mode(enabled=True)
    refused("not a valid IPv6", c.conf_ipv6, 0, True, "10.0.0.1")
    assert c.ping_ip(0, "2001:db8::2", count=1, timeout=0.2)[0]["status"] == "timeout"
    for vlan in (None, 30):
        if vlan is not None:
            c.set_vlan(ports=[0, 1], vlan=vlan)
        c.conf_ipv6(0, True)
        c.conf_ipv6(1, True, "2001:db8::2")
        own = c.get_port_attr(0)["ipv6"]
        assert own.startswith("fe80::"), own
        if vlan is None:
            (other,) = c.scan6(ports=[0], timeout=1)[0]
            assert other["mac"] == c.get_port_attr(1)["src_mac"], other
        for address in (other["ipv6"], "2001:db8::2"):
            for answer in c.ping_ip(0, address, count=2, interval_sec=0.1):
                assert answer["status"] == "success", answer
                assert answer["ttl"] == 64
        for port in (0, 1):
            c.conf_ipv6(port, False)
        assert c.get_port_attr(0)["ipv6"] == "off"
    c.clear_vlan(ports=[0, 1])
    c.set_service_mode(enabled=False)
    c.disconnect()


def traffic_looked_at() -> None:
    """Captures while flows run: with the tags that the port has, as many as asked for."""
    c = owner()
    c.load_profile(http())
    for vlan, tagged, types in (
        (None, "ip src net 16.0.0.0/8", []),
        (30, "vlan 30 and ip src net 16.0.0.0/8", [0x8100]),
        ([100, 30], "vlan 100 and vlan 30 and ip src net 16.0.0.0/8", [0x88A8, 0x8100]),
    ):
        if vlan is not None:
            c.set_vlan(ports=[0], vlan=vlan)
        wanted = c.start_capture(rx_ports=[1], limit=20, bpf_filter=tagged)["id"]
        c.start(mult=10, duration=0.4)
        c.wait_on_traffic(timeout=20)
        records = fetched(c, wanted)
        assert len(records) == 20, len(records)
        frames = [Ether(record["binary"]) for record in records]
        assert all(TCP in frame and frame[IP].src.startswith("16.") for frame in frames)
        assert all(types_of_tags(frame) == types for frame in frames)
        c.stop_capture(wanted)
    c.clear_vlan(ports=[0])
    traffic = c.get_stats()["traffic"]["client"]
    assert traffic["tcps_connects"] == traffic["tcps_connattempt"] > 0
    c.disconnect()


def clients_disabled() -> None:
    """Clients that are disabled open no flows; what is told of them, and of one that is none."""
    c = owner()
    first = int(IPv4Address("16.0.0.1"))
    c.load_profile(http())
    c.start(mult=10, duration=-1)
    assert c.set_client_enable_range(first, first + 199, False)
    assert c.set_client_enable([first, first + 100], True)
    for enabled in ({first, first + 100}, {first}):
        flows = c.start_capture(rx_ports=[1], limit=20, bpf_filter="tcp[13] == 2")["id"]
        while c.get_capture_status()[flows]["count"] < 20:
            pass
        seen = {Ether(record["binary"])[IP].src for record in fetched(c, flows)}
        assert seen == {str(IPv4Address(address)) for address in enabled}, seen
        c.stop_capture(flows)
        assert c.set_client_enable([first + 100], False)
    assert c.get_clients_info([first, first + 100, first + 500]).data() == {
        str(first): {"Found": 1, "state": "Active"},
        str(first + 100): {"Found": 1, "state": "Inactive"},
        str(first + 500): {"Found": 0},
    }
    assert len(c.get_clients_info_range(first, first + 199).data()) == 200
    c.stop()
    refused("for at most 100000", c.get_clients_info_range, 0, 100_000)
    c.disconnect()


def service_mode() -> None:
    """In service mode flows get nothing and a port's queue everything; filtered, flows go on."""
    c = owner()
    c.set_service_mode(enabled=True)
    c.set_rx_queue(ports=[1], size=5)
    c.push_packets([marked(port) for port in range(10)], ports=[0], force=True)
    while c.get_port(1).get_rx_queue_pkts() is None:
        pass
    c.remove_rx_queue(ports=[1])
    c.set_service_mode(enabled=False)
    c.load_profile(http())
    c.set_service_mode(enabled=False, filtered=True, mask=3)
    c.start(duration=0.5)
    c.wait_on_traffic(timeout=20)
    traffic = c.get_stats()["traffic"]["client"]
    assert traffic["tcps_connects"] == traffic["tcps_connattempt"] > 0
    c.start(duration=-1)
    c.set_service_mode(enabled=True)
    c.set_service_mode(enabled=False)
    c.stop()
    c.disconnect()


def vlan_by_profile() -> None:
    """Two profiles at once, each in VLANs of its own by the topology, both ways."""
    c = owner()
    vlans = {1: 30, 2: [100, 40]}
    topology = ASTFTopology()
    for number, vlan in vlans.items():
        topology.add_vif(f"0.{number}", f"02:00:00:00:01:0{number}")
        topology.vifs[-1].vlan = vlan
        clients = f"16.0.{number}.0", f"16.0.{number}.255"
        topology.add_gw(f"0.{number}", *clients, c.get_port_attr(1)["src_mac"])
        c.load_profile(
            http(port=80 + number, clients=clients),
            pid_input=str(number),
        )
    c.set_port_attr(promiscuous=True)
    c.topo_load(topology)
    c.topo_resolve()
    both = c.start_capture(tx_ports=[1], rx_ports=[1], limit=200)["id"]
    for number in vlans:
        c.start(mult=1, duration=1, pid_input=str(number))
    for number in vlans:
        c.wait_on_traffic(timeout=20, profile_id=str(number))
    frames = [Ether(record["binary"]) for record in fetched(c, both)]
    seen = set()
    for frame in (f for f in frames if TCP in f):
        client_ip = frame[IP].src if frame[IP].src.startswith("16.") else frame[IP].dst
        number = int(client_ip.split(".")[2])
        seen.add((number, frame[IP].src == client_ip))
        wanted = [0x8100] if number == 1 else [0x88A8, 0x8100]
        assert types_of_tags(frame) == wanted, frame.summary()
        assert frame.getlayer(len(wanted)).vlan == (30, 40)[number - 1]
    assert seen == {(1, True), (1, False), (2, True), (2, False)}
    c.stop_capture(both)
    c.topo_clear()
    c.set_port_attr(promiscuous=False)
    for number in vlans:
        traffic = c.get_traffic_stats(pid_input=str(number))["client"]
        assert traffic["tcps_connects"] == traffic["tcps_connattempt"] > 0
        c.clear_profile(pid_input=str(number))
    c.disconnect()


def gtpu() -> None:
    """Clients in GTP-U tunnels, by a topology and by records; both ports are ends of tunnels."""
    c = owner()
    c.set_service_mode(enabled=False)
    assert c.is_tunnel_supported() == {"is_tunnel_supported": True}
    refused("needs to be activated", c.update_tunnel_client_record, {}, 1)
    c.activate_tunnel(tunnel_type=1, activate=True, loopback=True)
    topology = TunnelsTopo()
    topology.add_tunnel_ctx(
        "16.0.0.0", "16.0.0.255", 1000, 2, 5000, 4, 1, "1.1.1.11", "12.2.2.2", activate=True
    )
    topology.add_tunnel_latency(0, "16.0.0.0", "48.0.0.0")
    c.tunnels_topo_load(topology)
    c.tunnels_topo_show()
    c.update_tunnel_client_record(
        {int(IPv4Address("16.0.0.2")): Tunnel("3::1", "3::2", 0, 7, 6)}, 1
    )
    c.load_profile(http())
    both = c.start_capture(tx_ports=[1], rx_ports=[1], limit=400, bpf_filter="not arp")["id"]
    c.start(mult=5, duration=1, latency_pps=20)
    refused("should be IDLE", c.activate_tunnel, activate=False)
    c.wait_on_traffic(timeout=20)
    flows, ways = 0, set()
    for frame in (Ether(record["binary"]) for record in fetched(c, both)):
        outer = frame[UDP]
        assert outer.dport == 2152
        header, packet = bytes(outer.payload)[:8], IP(bytes(outer.payload)[8:])
        flags, kind, length, teid = struct.unpack("!BBHI", header)
        assert (flags, kind, length) == (0x30, 255, len(packet))
        sent = packet.src.startswith("16.")
        client_number = int((packet.src if sent else packet.dst).split(".")[3])
        ends = ("1.1.1.11", "12.2.2.2", 5000, 1000 + 2 * client_number)
        if client_number == 2:
            ends = ("3::1", "3::2", packet[TCP].sport if sent else 0, 7)
        one, other, port, number = ends if sent else (ends[1], ends[0], *ends[2:])
        assert (frame.payload.src, frame.payload.dst, teid) == (one, other, number)
        assert outer.sport == (port or outer.sport)
        flows += TCP in packet
        ways.add((sent, client_number == 2, TCP in packet))
    assert flows > 50
    assert ways >= {(True, False, True), (False, False, True), (True, True, True)}
    c.stop_capture(both)
    traffic = c.get_stats()["traffic"]["client"]
    assert traffic["tcps_connects"] == traffic["tcps_connattempt"] > 0
    latency = c.get_stats()["latency"][0]["stats"]
    assert latency["m_pkt_ok"] > 0, latency
    drops = c._transmit("stackcost_get_drops").data()["cores"]
    assert all(core["reasons"]["no_tunnel"] == 0 for core in drops)
    c.tunnels_topo_clear()
    c.activate_tunnel(tunnel_type=1, activate=False)
    c.disconnect()
