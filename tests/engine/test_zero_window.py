"""A client of the kernel's that does not read, and sends: its payload is acknowledged all the same.

Once its buffer is full its window is closed, and it takes no ACK but one that has the number of the
next byte (RFC 9293, section 3.10.7.4).
"""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from engine.interop.bed import (
    ENGINE_ADDRESS,
    ENGINE_ADDRESS_V6,
    HOST,
    Wire,
    engine_on,
    host_behind_router,
)
from engine.interop.cell import FLOWS_PROFILE, NO_CLIENTS, PORT
from stackcost.bed.local import LocalTestbed
from stackcost.trex.client import TrexClient

pytestmark = pytest.mark.bed

SIZE = 300_000  # bytes each way, many times the client's buffer

# Prints how many bytes are not acknowledged 1 s after they were sent; then reads the response.
CLIENT = """
import fcntl, socket, ssl, struct, sys, termios, time
address, port, size, over_tls = sys.argv[1], *map(int, sys.argv[2:])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
plain = socket.socket(family, socket.SOCK_STREAM)
plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
plain.settimeout(20)
plain.connect((address, port))
stream = plain
if over_tls:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    stream = context.wrap_socket(plain, server_hostname="engine.test")
stream.sendall(b"G" * size)
time.sleep(1.5)  # the window closes, and is probed
stream.sendall(b"G" * 1000)
time.sleep(1)
waiting = fcntl.ioctl(stream.fileno(), termios.TIOCOUTQ, struct.pack("I", 0))
print(*struct.unpack("I", waiting), flush=True)
received = 0
while received < size:
    received += len(stream.recv(65536))
print(received)
"""


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalTestbed, TrexClient]]:
    """A host behind a router, and the engine as its server."""
    with (
        host_behind_router(Wire(), ipv6=True) as bed,
        engine_on(bed, tmp_path_factory.mktemp("engine"), server=True) as engine,
    ):
        yield bed, engine


def probes(engine: TrexClient) -> int:
    return int(engine.stats()["traffic"]["server"].get("tcps_sndprobe", 0))


@pytest.mark.parametrize("over", [pytest.param("IPv4", marks=pytest.mark.long), "IPv6", "TLS"])
def test_payload_of_a_client_with_a_closed_window_is_acknowledged(
    over: str, peers: tuple[LocalTestbed, TrexClient]
) -> None:
    ipv6, tls = over == "IPv6", over == "TLS"
    bed, engine = peers
    engine.load_profile(FLOWS_PROFILE, {"size": SIZE, "port": PORT, "ipv6": int(ipv6)})
    if tls:
        engine.call("stackcost_set_tls", {"profile_id": "_"})
    before = probes(engine)
    engine.start(1, client_mask=NO_CLIENTS)
    address = ENGINE_ADDRESS_V6 if ipv6 else ENGINE_ADDRESS
    command = [sys.executable, "-c", CLIENT, address, str(PORT), str(SIZE), str(int(tls))]
    client = bed.run(HOST, command, bed.cpus.server, stdout=subprocess.PIPE, text=True)
    said, _ = client.communicate(timeout=60)
    assert probes(engine) > before
    engine.stop()
    assert said.split() == ["0", str(SIZE)]
