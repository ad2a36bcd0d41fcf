"""The engine on one end of a veth, and behind a router a host on the kernel's stack.

The router is where frames are lost, held back and marked: a drop in the host itself would be no
loss, its TCP is told of it and sends again.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from stackcost.bed.local import LocalTestbed
from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.wiring import LOAD_INTERFACE, LOAD_NAMESPACE, NAMESPACE_PREFIX, Port
from stackcost.host.namespace import execute, run, spawner
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.trex_config import TrexConfig

HOST = f"{NAMESPACE_PREFIX}test-host"
HOST_INTERFACE = "sc-host0"
HOST_ADDRESS = "48.0.0.1"
HOST_ADDRESS_V6 = "2001:db8::48.0.0.1"
ENGINE_ADDRESS = "16.0.0.1"
ENGINE_ADDRESS_V6 = "2001:db8::16.0.0.1"
ENGINE_NETWORK_V6 = "2001:db8::16.0.0.0/104"

DELAY_LINE = Path(__file__).with_name("delay_line.py")
DELAY_DEVICE = "sc-delay0"
HELD_MS = 2.0

# No frame is a merged one when it comes to the router's rules: one drop is to take one frame.
LINK = f"""
ip link add sc-in0 netns SERVER type veth peer name {HOST_INTERFACE} netns {HOST}
ip -n SERVER address add 198.19.0.1/24 dev sc-in0
ip -n SERVER link set sc-in0 up
ip -n SERVER route add {HOST_ADDRESS}/32 via 198.19.0.2
ip -n {HOST} address add 198.19.0.2/24 dev {HOST_INTERFACE}
ip -n {HOST} address add {HOST_ADDRESS}/32 dev {HOST_INTERFACE}
ip -n {HOST} link set lo up
ip -n {HOST} link set {HOST_INTERFACE} up
ip -n {HOST} route add default via 198.19.0.1
ip netns exec {HOST} ethtool -K {HOST_INTERFACE} gso off tso off gro off
ip netns exec SERVER ethtool -K SC_SERVER gro off
ip netns exec SERVER sysctl -q -w net.ipv4.ip_forward=1
"""

# Neighbors by hand: nobody on the engine's side answers for IPv6 addresses.
LINK_V6 = f"""
ip netns exec SERVER sysctl -q -w net.ipv6.conf.all.disable_ipv6=0
ip netns exec SERVER sysctl -q -w net.ipv6.conf.SC_SERVER.disable_ipv6=0
ip netns exec SERVER sysctl -q -w net.ipv6.conf.sc-in0.disable_ipv6=0
ip netns exec SERVER sysctl -q -w net.ipv6.conf.all.forwarding=1
ip -n SERVER -6 address add fd00:5c::1/64 dev sc-in0 nodad
ip -n {HOST} -6 address add fd00:5c::2/64 dev {HOST_INTERFACE} nodad
ip -n {HOST} -6 address add {HOST_ADDRESS_V6}/128 dev {HOST_INTERFACE} nodad
ip -n {HOST} -6 route add default via fd00:5c::1
ip -n SERVER -6 route add {HOST_ADDRESS_V6}/128 via fd00:5c::2
ip -n SERVER -6 address add fd00:5d::1/64 dev SC_SERVER nodad
ip -n SERVER -6 neighbor add fd00:5d::2 lladdr ENGINE_MAC dev SC_SERVER nud permanent
ip -n SERVER -6 route add {ENGINE_NETWORK_V6} via fd00:5d::2
"""

DELAY = f"""
ip -n SERVER tuntap add dev {DELAY_DEVICE} mode tun
ip -n SERVER link set {DELAY_DEVICE} up
ip netns exec SERVER sysctl -q -w net.ipv4.conf.all.rp_filter=0
ip netns exec SERVER sysctl -q -w net.ipv4.conf.{DELAY_DEVICE}.rp_filter=0
ip -n SERVER rule add fwmark 1 table 100
ip -n SERVER -6 rule add fwmark 1 table 100
ip -n SERVER route add default dev {DELAY_DEVICE} table 100
"""

RULES = """
table inet stackcost {{
    chain forwarded {{
        type filter hook forward priority 0;
        iifname != "{delay}" numgen random mod 1000 < {loss} counter drop
        ip ecn {{ 1, 2 }} numgen random mod 1000 < {congestion} counter ip ecn set ce
    }}
    chain received {{
        type filter hook prerouting priority -150;
        iifname != "{delay}" numgen random mod 1000 < {reordering} counter meta mark set 1
    }}
}}
"""


@dataclass(frozen=True)
class Wire:
    """What the router does to frames of both directions, in frames of a thousand."""

    loss: int = 0
    reordering: int = 0  # held back by HELD_MS
    congestion: int = 0  # ECN-capable ones marked CE (IPv4)


@contextmanager
def host_behind_router(wire: Wire, ipv6: bool = False) -> Iterator[LocalTestbed]:
    """A bed whose server's end is a router, with a host behind it in the namespace HOST.

    The bed removes HOST as one of its own, known by its name.
    """
    with LocalTestbed(service_address="198.18.0.9") as bed, ExitStack() as exits:
        subprocess.run(["ip", "netns", "add", HOST], check=True)
        _run_lines(LINK, bed)
        if ipv6:
            _run_lines(LINK_V6, bed)
        if wire.reordering:
            _run_lines(DELAY, bed)
            held = [sys.executable, str(DELAY_LINE), DELAY_DEVICE, str(HELD_MS)]
            line = run(bed.server_namespace, held, bed.cpus.server)
            exits.callback(line.wait)
            exits.callback(line.terminate)
        rules = RULES.format(
            delay=DELAY_DEVICE,
            loss=wire.loss,
            reordering=wire.reordering,
            congestion=wire.congestion,
        )
        execute(bed.server_namespace, ["nft", "-f", "-"], stdin=rules)
        yield bed


@contextmanager
def engine_on(
    bed: LocalTestbed,
    folder: Path,
    server: bool,
    address: str = LOAD_ADDRESS,
    gateway: str = SERVER_ADDRESS,
    kind: str = "",
    generator: type[AstfServer] = AstfServer,
    cores: int = 1,
) -> Iterator[TrexClient]:
    """astf-engine on the load's end, as ASTF server or as client, and a TRex client of it.

    `kind`: "packet:" for packet sockets (docs/architecture.md, "Ports"), else AF_XDP. `generator`:
    what starts it. `cores`: its data cores; several share the load's CPU.
    """
    port = Port(kind + bed.load_interface, address, gateway)
    ports = (Port("dummy"), port) if server else (port, Port("dummy"))
    spawn = spawner(bed.load_namespace, bed.cpus.load)
    cpus = bed.cpus.load if cores == 1 else bed.cpus.load[:1] * (1 + cores)
    config = TrexConfig("engine-test", ports, cpus)
    with generator(config, folder, spawn), TrexClient(spawn) as client:
        client.connect()
        client.reset()
        bed.steer()
        yield client


def _run_lines(commands: str, bed: LocalTestbed) -> None:
    lines = commands.replace("SC_SERVER", bed.server_interface)
    if "ENGINE_MAC" in lines:
        lines = lines.replace("ENGINE_MAC", _mac(LOAD_NAMESPACE, LOAD_INTERFACE))
    for line in lines.replace("SERVER", bed.server_namespace).strip().splitlines():
        subprocess.run(line.split(), check=True, stdout=subprocess.DEVNULL)


def _mac(namespace: str, interface: str) -> str:
    links = json.loads(execute(namespace, ["ip", "-json", "link", "show", interface]))
    return str(links[0]["address"])
