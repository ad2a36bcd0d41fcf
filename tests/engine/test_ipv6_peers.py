"""The engine's IPv6 against the kernel's, both ways round.

The engine answers no neighbour solicitation for the addresses it plays, as TRex does not: the
kernel has a route to them over a neighbour entered by hand.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.interop.bed import engine_on
from harness.testbed.local import LocalTestbed
from harness.testbed.namespace import execute

pytestmark = pytest.mark.bed

PROFILE = Path(__file__).parent / "profiles" / "http_ipv6.py"
BODY_BYTES = 32_000
RESPONSE_BYTES = len(b"HTTP/1.1 200 OK\r\nContent-Length: 32000\r\n\r\n") + BODY_BYTES

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
ip -6 neighbour replace fe80::1 lladdr ENGINE dev INTERFACE nud permanent
ip -6 route add 2001:db8::/96 via fe80::1 dev INTERFACE src 2001:db8:1::3000:1
"""


@pytest.fixture
def bed() -> Iterator[LocalTestbed]:
    with LocalTestbed(service_address="198.18.0.9") as bed:
        link = json.loads(
            execute(bed.load_namespace, ["ip", "-j", "link", "show", bed.load_interface])
        )
        commands = KERNEL.replace("INTERFACE", bed.server_interface)
        for command in commands.replace("ENGINE", link[0]["address"]).strip().splitlines():
            execute(bed.server_namespace, command.split())
        yield bed


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
        with engine_on(bed, tmp_path, server=False) as client:
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
    with engine_on(bed, tmp_path, server=True) as client:
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
