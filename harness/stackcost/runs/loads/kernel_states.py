"""Flows of the kernel's stack in states other than established: tracked, half-open, TIME_WAIT.

They are made in the server's namespace, next to the server, and removed on exit. Half-open flows
come from SYNs with client addresses that do not answer the SYN-ACK. Flows in TIME_WAIT were
closed first by the side that accepted them, like those of a server that closes first.
"""

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pyroute2 import IPRoute, netns

from stackcost.contracts.errors import StackcostError
from stackcost.files import IMPORTED_FROM
from stackcost.host.kernel_tables import sockstat
from stackcost.host.namespace import execute, run
from stackcost.host.timeouts import scaled_timeout
from stackcost.host.waiting import wait_until
from stackcost.session.profile_session import ProfileSession

PORT = 8099  # of the listeners here; the service has another
TABLE = "stackcost_tracking"
HOOK = "type filter hook input priority 0;"
TRACK = f"table ip {TABLE} {{\nchain input {{\n{HOOK}\nct state new\n}}\n}}\n"
UNTRACK = f"table ip {TABLE}\ndelete table ip {TABLE}\n"
FLUSH = "from pyroute2 import NFCTSocket; NFCTSocket().flush()"
GONE_TIMEOUT_S = 70.0  # TIME_WAIT lasts 60 s (TCP_TIMEWAIT_LEN, include/net/tcp.h)
BATCH, BATCH_S = 100, 0.005  # SYNs: more at once would overflow the receive ring of a veth
PER_ADDRESS = 50_000
LISTEN = f"""
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", {PORT}))
listener.listen(1_000_000)
print("listening", flush=True)
sys.stdin.read()
"""
# Arguments: the first flow and the one after the last.
CLOSE_FIRST = f"""
import socket, sys
sys.path.insert(0, {str(IMPORTED_FROM)!r})
from stackcost.host.waiting import wait_until
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", {PORT}))
listener.listen(8)
for number in range(int(sys.argv[1]), int(sys.argv[2])):
    address, port = divmod(number, {PER_ADDRESS})
    client = socket.socket()
    client.bind(("127.0.0.1", 10_000 + port))
    client.connect((f"127.0.1.{{1 + address}}", {PORT}))
    listener.accept()[0].close()
    client.recv(1)
    client.close()
"""
Held = Callable[[], int]


@contextmanager
def tracked(session: ProfileSession) -> Iterator[None]:
    """Inside, netfilter tracks every connection of the server's namespace."""
    namespace = session.local_server.bed.server_namespace
    execute(namespace, ["nft", "-f", "-"], stdin=TRACK)
    try:
        yield
    finally:
        execute(namespace, [sys.executable, "-c", FLUSH])
        execute(namespace, ["nft", "-f", "-"], stdin=UNTRACK)


@contextmanager
def half_open(session: ProfileSession, count: int) -> Iterator[Held]:
    """`count` flows in SYN_RECV; yields how many there are now."""
    namespace = session.local_server.bed.server_namespace
    settings = {
        "net.core.somaxconn": 1_000_000,
        "net.ipv4.tcp_max_syn_backlog": 1_000_000,
        "net.ipv4.tcp_syncookies": 0,
        "net.ipv4.tcp_synack_retries": 3,  # given up after 15 s
    }

    def held() -> int:
        return len(execute(namespace, ["ss", "-tnH", "state", "syn-recv"]).splitlines())

    with _set(namespace, settings):
        listener = run(
            namespace,
            [sys.executable, "-S", "-c", LISTEN],
            session.bed.cpus.load,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            assert listener.stdout is not None
            listener.stdout.readline()
            _send_syns(session, count)
            yield held
        finally:
            listener.terminate()
            listener.communicate()
            _wait_until_gone(held, "half-open")


@contextmanager
def time_wait(session: ProfileSession, count: int) -> Iterator[Held]:
    """`count` flows in TIME_WAIT, including existing ones; yields how many there are.

    They stay on exit, for the next and larger count; `end_time_wait` waits until they have ended.
    """
    namespace = session.local_server.bed.server_namespace
    with _set(namespace, {"net.ipv4.tcp_max_tw_buckets": 1_000_000}):
        there = time_waiting(session)
        arguments = [str(min(there, count)), str(count)]
        execute(namespace, [sys.executable, "-S", "-c", CLOSE_FIRST, *arguments])
        yield lambda: time_waiting(session)


def end_time_wait(session: ProfileSession) -> None:
    """Wait until no flow of the server's namespace is in TIME_WAIT."""
    _wait_until_gone(lambda: time_waiting(session), "TIME_WAIT")


def time_waiting(session: ProfileSession) -> int:
    """Flows in TIME_WAIT in the server's namespace."""
    text = execute(session.local_server.bed.server_namespace, ["cat", "/proc/net/sockstat"])
    return sockstat(text)["TCP", "tw"]


def _send_syns(session: ProfileSession, count: int) -> None:
    """Send SYNs from addresses above those of the generator's clients, which it ignores."""
    workload = session.experiment.workload
    ports = 60_000
    addresses = list(workload.client_network.hosts())[::-1]
    bed = session.local_server.bed
    frames = {bed.load_namespace: bed.load_interface, bed.server_namespace: bed.server_interface}
    source, target = (_hardware_address(name, end) for name, end in frames.items())
    wire = netns.create_socket(bed.load_namespace, socket.AF_PACKET, socket.SOCK_RAW)
    with wire:
        wire.bind((bed.load_interface, 0))
        for number in range(count):
            address, port = divmod(number, ports)
            frame = _syn(addresses[address].packed, workload.server.packed, 1024 + port)
            wire.send(target + source + b"\x08\x00" + frame)
            if number % BATCH == 0:
                time.sleep(BATCH_S)


def _syn(source: bytes, target: bytes, port: int) -> bytes:
    """An IPv4 packet with a SYN (RFC 791, RFC 9293), window 65535, MSS 1460."""
    tcp = struct.pack("!HHIIBBHHHBBH", port, PORT, port, 0, 6 << 4, 2, 65_535, 0, 0, 2, 4, 1460)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0) + source + target
    pseudo = source + target + struct.pack("!HH", 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", _checksum(pseudo + tcp)) + tcp[18:]
    return ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:] + tcp


def _checksum(data: bytes) -> int:
    """RFC 1071."""
    whole = sum(struct.unpack(f"!{len(data) // 2}H", data))
    whole = (whole & 0xFFFF) + (whole >> 16)
    return ~(whole + (whole >> 16)) & 0xFFFF


def _hardware_address(namespace: str, interface: str) -> bytes:
    with IPRoute(netns=namespace) as network:
        (link,) = network.get_links(ifname=interface)
        return bytes.fromhex(link.get_attr("IFLA_ADDRESS").replace(":", ""))


@contextmanager
def _set(namespace: str, settings: Mapping[str, int]) -> Iterator[None]:
    """Change settings of a namespace and restore them on exit."""
    before = {name: execute(namespace, ["sysctl", "-n", name]).strip() for name in settings}
    try:
        for name, value in settings.items():
            execute(namespace, ["sysctl", "-qw", f"{name}={value}"])
        yield
    finally:
        for name, old in before.items():
            execute(namespace, ["sysctl", "-qw", f"{name}={old}"])


def _wait_until_gone(held: Held, what: str) -> None:
    if not wait_until(lambda: not held(), scaled_timeout(GONE_TIMEOUT_S), 0.5):
        raise StackcostError(f"{held():,} {what} flows still exist, but should have ended")
