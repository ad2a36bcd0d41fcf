"""The engine's IPv6 against the kernel's, both ways round.

Both find each other by neighbour discovery: the engine's port solicits its gateway, the kernel's
end, and that has a route to the addresses which the engine plays over the port's own one.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from engine.interop.bed import engine_on
from stackcost.bed.local import LocalTestbed
from stackcost.host.namespace import execute
from stackcost.host.waiting import wait_until
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.process import Spawn
from stackcost.trex.trex_config import TrexConfig

pytestmark = pytest.mark.bed

PROFILE = Path(__file__).parent / "profiles" / "http_ipv6.py"
BODY_BYTES = 32_000
RESPONSE_BYTES = len(b"HTTP/1.1 200 OK\r\nContent-Length: 32000\r\n\r\n") + BODY_BYTES

ENGINE = "fd00:5d::2"
GATEWAY = "fd00:5d::1"
OWN_MAC = "02:00:00:00:5c:77"  # no device's

# An ICMPv6 echo request of 1,000 bytes, and its reply whole.
PING = f"""
import socket
data = bytes(range(250)) * 4
with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as ping:
    ping.settimeout(20)
    ping.sendto(bytes([128, 0, 0, 0, 1, 2, 3, 4]) + data, ("{ENGINE}", 0))
    while (answer := ping.recv(2000))[0] != 129:
        pass
assert answer[4:] == bytes([1, 2, 3, 4]) + data, answer
"""

# One connection after the other: takes the request, answers, and waits for the other's end.
SERVER = """
import socket
listener = socket.create_server(("2001:db8:1::3000:1", 80), family=socket.AF_INET6)
print("ready", flush=True)
while True:
    connection, _ = listener.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"r" * RESPONSE_BYTES)
        while connection.recv(1000):
            pass
"""

KERNEL = """
sysctl -q -w net.ipv6.conf.INTERFACE.disable_ipv6=0
sysctl -q -w net.ipv6.conf.lo.disable_ipv6=0
ip -6 address add 2001:db8:1::3000:1/128 dev INTERFACE nodad
ip -6 address add GATEWAY/64 dev INTERFACE nodad
ip -6 route add 2001:db8::/96 via ENGINE dev INTERFACE src 2001:db8:1::3000:1
"""


@pytest.fixture
def bed() -> Iterator[LocalTestbed]:
    with LocalTestbed(service_address="198.18.0.9") as bed:
        commands = KERNEL.replace("INTERFACE", bed.server_interface).replace("GATEWAY", GATEWAY)
        for command in commands.replace("ENGINE", ENGINE).strip().splitlines():
            execute(bed.server_namespace, command.split())
        yield bed


class WithOwnMac(AstfServer):
    """Its first port has the address OWN_MAC, and not the one of its device."""

    def __init__(self, config: TrexConfig, folder: Path, spawn: Spawn):
        def configured(argv: list[str], *arguments: Any, **options: Any) -> Any:
            file = Path(argv[argv.index("--cfg") + 1])
            (settings,) = YAML().load(file.read_text())
            settings["port_info"][0]["src_mac"] = OWN_MAC
            with file.open("w") as changed:
                YAML().dump([settings], changed)
            return spawn(argv, *arguments, **options)

        super().__init__(config, folder, configured)


@pytest.fixture
def kernel_server(bed: LocalTestbed) -> Iterator[None]:
    """SERVER on the kernel's end, as soon as it listens."""
    script = SERVER.replace("RESPONSE_BYTES", str(RESPONSE_BYTES))
    server = bed.run(
        bed.server_namespace,
        [sys.executable, "-c", script],
        bed.cpus.server,
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield
    finally:
        server.kill()
        server.wait()


def open_flows(client: TrexClient) -> None:
    """For a second; all of them complete."""
    client.load_profile(PROFILE)
    client.start(1, duration=1)
    client.wait_on_traffic(30)
    seen = client.stats()["traffic"]["client"]
    assert seen["tcps_connattempt"] > 50
    assert seen["tcps_connects"] == seen["tcps_closed"] == seen["tcps_connattempt"]
    assert seen["tcps_rcvbyte"] == seen["tcps_connects"] * RESPONSE_BYTES
    assert seen["tcps_drops"] == seen["tcps_conndrops"] == 0


def ping(bed: LocalTestbed) -> None:
    """PING from the kernel's end; its reply is whole."""
    program = bed.run(
        bed.server_namespace,
        [sys.executable, "-c", PING],
        bed.cpus.server,
        stderr=subprocess.PIPE,
        text=True,
    )
    _, complaint = program.communicate(timeout=30)
    assert program.returncode == 0, complaint


def neighbour(bed: LocalTestbed) -> dict[str, Any]:
    """The kernel's entry of the engine."""
    show = ["ip", "-6", "-json", "neighbour", "show", ENGINE]
    (entry,) = json.loads(execute(bed.server_namespace, show))
    return dict(entry)


@pytest.mark.usefixtures("kernel_server")
@pytest.mark.parametrize("kind", ["", "--vdev=net_af_packet0,iface="], ids=["af_xdp", "af_packet"])
def test_a_port_with_a_mac_of_its_own_is_a_neighbour_that_is_reached(
    bed: LocalTestbed, tmp_path: Path, kind: str
) -> None:
    if kind:  # its buffers hold 2 KB, so the kernel cuts what it sends
        uncut = ["ethtool", "-K", bed.server_interface, "tso", "off", "gso", "off"]
        execute(bed.server_namespace, uncut)
    with engine_on(
        bed, tmp_path, False, ENGINE, GATEWAY, kind=kind, generator=WithOwnMac
    ) as client:
        open_flows(client)
        # TCP confirmed the entry that the engine's solicitation made: only a new one needs answers.
        execute(
            bed.server_namespace, ["ip", "-6", "neighbour", "flush", "dev", bed.server_interface]
        )
        ping(bed)
        assert wait_until(lambda: neighbour(bed)["state"] == ["REACHABLE"], 30), neighbour(bed)
        assert neighbour(bed)["lladdr"] == OWN_MAC


def test_the_kernel_finds_the_port_and_gets_a_whole_response(
    bed: LocalTestbed, tmp_path: Path
) -> None:
    with engine_on(bed, tmp_path, True, ENGINE, GATEWAY) as client:
        ping(bed)
        show = ["ip", "-json", "link", "show", bed.load_interface]
        (link,) = json.loads(execute(bed.load_namespace, show))
        assert neighbour(bed)["lladdr"] == link["address"]
        client.load_profile(PROFILE)
        client.start(1, client_mask=0)
        file = tmp_path / "response"
        command = ["curl", "-sS", "--max-time", "20", "-o", str(file)]
        curl = bed.run(
            bed.server_namespace,
            [*command, "http://[2001:db8::1000:1]/"],
            bed.cpus.server,
            stderr=subprocess.PIPE,
            text=True,
        )
        _, complaint = curl.communicate(timeout=25)
        assert curl.returncode == 0, complaint
        assert file.read_bytes() == b"x" * BODY_BYTES
        assert client.stats()["traffic"]["server"]["tcps_accepts"] == 1
        client.stop()
