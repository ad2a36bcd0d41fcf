"""The engine's IPv6 against the kernel's, both ways round.

Both find each other by neighbour discovery: the engine's port solicits its gateway, the kernel's
end, and that has a route to the addresses which the engine plays over the port's own one.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from engine.interop.bed import engine_on
from stackcost.harness.bed.local import LocalTestbed
from stackcost.host.namespace import execute
from stackcost.trex.client import TrexClient

pytestmark = pytest.mark.bed

PROFILE = Path(__file__).parent / "profiles" / "http_ipv6.py"
BODY_BYTES = 32_000
RESPONSE_BYTES = len(b"HTTP/1.1 200 OK\r\nContent-Length: 32000\r\n\r\n") + BODY_BYTES

ENGINE = "fd00:5d::2"
GATEWAY = "fd00:5d::1"

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


def engine(bed: LocalTestbed, folder: Path, server: bool) -> AbstractContextManager[TrexClient]:
    return engine_on(bed, folder, server, ENGINE, GATEWAY)


def test_every_flow_against_the_kernel_completes(bed: LocalTestbed, tmp_path: Path) -> None:
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
        with engine(bed, tmp_path, server=False) as client:
            client.load_profile(PROFILE)
            client.start(1, duration=1)
            client.wait_on_traffic(30)
            seen = client.stats()["traffic"]["client"]
            assert seen["tcps_connattempt"] > 50
            assert seen["tcps_connects"] == seen["tcps_closed"] == seen["tcps_connattempt"]
            assert seen["tcps_rcvbyte"] == seen["tcps_connects"] * RESPONSE_BYTES
            assert seen["tcps_drops"] == seen["tcps_conndrops"] == 0
    finally:
        server.kill()
        server.wait()


def test_curl_gets_a_whole_response(bed: LocalTestbed, tmp_path: Path) -> None:
    with engine(bed, tmp_path, server=True) as client:
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


def test_the_kernel_finds_the_port_and_pings_it(bed: LocalTestbed, tmp_path: Path) -> None:
    show = ["ip", "-6", "-json", "neighbour", "show", ENGINE]
    with engine(bed, tmp_path, server=True):
        ping = bed.run(
            bed.server_namespace,
            [sys.executable, "-c", PING],
            bed.cpus.server,
            stderr=subprocess.PIPE,
            text=True,
        )
        _, complaint = ping.communicate(timeout=30)
        assert ping.returncode == 0, complaint
        (neighbour,) = json.loads(execute(bed.server_namespace, show))
        (link,) = json.loads(
            execute(bed.load_namespace, ["ip", "-json", "link", "show", bed.load_interface])
        )
        assert neighbour["lladdr"] == link["address"]
