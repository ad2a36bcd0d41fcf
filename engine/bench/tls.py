"""TLS 1.3: handshakes, requests, bytes and open flows, beside OpenSSL alone, wrk and ab.

Certificate of P-256, group X25519, AES-256-GCM, for all of them. What OpenSSL takes alone is
measured by tls-library (engine/tests/instructions/tls_library.cpp), on the same core in the same
trial. The clients of nginx are measured as in the row nginx, over the same veth pair, in turn; the
engine is on a packet socket. wrk and ab use the same OpenSSL as the engine.
"""

import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from nginx import (
    ACCEPT_QUEUE,
    CONNECTIONS,
    GET,
    OFFERED,
    SECONDS,
    Asked,
    NginxKernel,
    of_engine,
    of_kernel_client,
    words,
)
from tools.engine import RPC_PORTS, data_seconds, driven, load, resident_bytes
from tools.figures import Figure, Measured, report, say
from tools.held import hold, received_over_tls
from tools.machine import cpus

from stackcost.bed import network
from stackcost.bed.local import LocalTestbed
from stackcost.contracts.addresses import SERVICE_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import P256
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.tls import TlsSettings
from stackcost.contracts.wiring import Port
from stackcost.trex.trex_config import TrexConfig

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build/engine"
LIBRARY = "tests/tls-library"
LIBRARY_S = 1.5
PORT = 443
TLS: dict[str, Any] = {"version": "1.3", "group": "X25519", "certificate": "P-256"}
BODY_BYTES = 100
REQUESTS = 500  # on a kept connection; nginx closes after 1,000
KEPT = 0.6  # of wrk's rate, which the engine asks for on kept connections
RECORD_RESPONSE = 32_000
STREAMS = 16
HELD_FLOWS = (1_000, 10_000)
HELD_RATE = 600  # a core shakes hands with both ends of some 2,000; what waits takes memory
ENDS = 2  # of a connection, both on one engine

NEW_EACH = ": a connection for each request"
URL = f"https://{SERVICE_ADDRESS}:{PORT}/"
NEW = {
    "wrk": ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}", "-H", "Connection: close", URL],
    "ab": ["ab", "-q", "-r", f"-c{CONNECTIONS}", f"-t{SECONDS}", "-n100000000", URL],
}
KEEPING = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}", URL]

_LIBRARY_SAYS = re.compile(
    r"handshake: ([\d.]+) us client, ([\d.]+) us server\n"
    r"cipher: (\d+) bytes/s encrypted, (\d+) bytes/s decrypted\n"
    r"at rest: (\d+) bytes client, (\d+) bytes server"
)


class Library(NamedTuple):
    """What OpenSSL takes alone: us of a handshake, bytes/s, bytes of a connection at rest."""

    client_us: float
    server_us: float
    encrypted: float
    decrypted: float
    client_bytes: float
    server_bytes: float

    @property
    def both_ways(self) -> float:
        """Bytes a second that one core encrypts and decrypts again."""
        return 1 / (1 / self.encrypted + 1 / self.decrypted)


def run(trials: int) -> dict[str, Any]:
    """Each trial: OpenSSL alone, the clients of nginx in turn, then the engine with both ends."""
    if len(cpus()) < 2:
        raise StackcostError("one CPU only", "give the benchmark a CPU for each side")
    subprocess.run(["ninja", "-C", BUILD, "--quiet", LIBRARY], check=True)
    measured = {figure.name: Measured(figure) for figure in figures()}
    for trial in range(trials):
        seen = {**of_clients(), **of_bytes(), **of_memory()}
        for name, value in seen.items():
            measured[name].add(value)
        say(trial, trials, words(seen))
    return report(list(measured.values()))


def figures() -> list[Figure]:
    """What is measured, in the table's order."""
    full = "a new connection, a full handshake and a small response for each request of nginx's"
    kept = f"a small response on a kept connection; the engine asks {REQUESTS} times on each"
    alone = "OpenSSL alone, both ends in memory"
    return [
        Figure("library, client", "us/handshake", f"the client's half, {alone}"),
        Figure(f"engine{NEW_EACH}", "us/connection", f"all its time on its core; {full}"),
        Figure(
            "engine : library",
            "",
            "the ratio of the two above, in each trial",
            target=1.25,
            lower_is_better=True,
        ),
        Figure(f"wrk{NEW_EACH}", "us/connection", f"the same of wrk; {full}"),
        Figure(f"ab{NEW_EACH}", "us/connection", f"the same of ab; {full}"),
        Figure("wrk : engine, handshakes", "", "ratio in each trial", target=2.5),
        Figure("ab : engine, handshakes", "", "ratio in each trial", target=2.5),
        Figure("wrk: kept connections", "us/request", kept),
        Figure("engine: kept connections", "us/request", kept),
        Figure("wrk : engine, requests", "", "ratio in each trial", target=3),
        Figure(
            "payload, 32 KB",
            "B/s",
            "payload that one data core encrypts and decrypts again, both ends, in-memory wire; "
            f"responses of {RECORD_RESPONSE:,} bytes on {STREAMS} kept connections",
        ),
        Figure("cipher, 32 KB", "B/s", f"encrypted and decrypted again; {alone}, no TLS, no TCP"),
        Figure("payload : cipher", "", "ratio in each trial", target=0.8),
        Figure(
            "memory, engine's pools",
            "B",
            f"of an end of an idle flow: slope over {HELD_FLOWS} flows, library's bytes included",
            target=4096,
            lower_is_better=True,
        ),
        Figure("memory, whole process", "B", "the same slope of the process's resident memory"),
        Figure("memory, library's client", "B", f"of a connection at rest; {alone}"),
        Figure("memory, library's server", "B", f"of a connection at rest; {alone}"),
    ]


def of_clients() -> dict[str, float | str]:
    """Handshakes and requests against nginx."""
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        LocalTestbed([cpus()[0]], [cpus()[1]]) as bed,
    ):
        network.moderate_server_receive()
        nginx = NginxKernel(
            bed.endpoint(Path(folder)),
            ServerSettings(
                BODY_BYTES,
                GET,
                program=ProgramSettings(backlog=ACCEPT_QUEUE, certificate=P256),
                tls_port=PORT,
                tls=TlsSettings(),
            ),
        )
        nginx.begin()
        try:
            library = of_library()
            length = {"response_bytes": nginx.response_length(), "port": PORT}
            (wrk, rate), (ab, _) = (of_kernel_client(bed, nginx, each) for each in NEW.values())
            interface = f"packet:{bed.load_interface}"
            new = of_engine(
                bed, nginx, interface, Asked({**length, "cps": OFFERED * rate}, tls=TLS)
            )
            kept_wrk, kept_rate = of_kernel_client(bed, nginx, KEEPING)
            asked = {**length, "requests": REQUESTS, "cps": KEPT * kept_rate / REQUESTS}
            kept = of_engine(bed, nginx, interface, Asked(asked, "http_keepalive.py", TLS))
        finally:
            nginx.stop()
    return {
        "library, client": library.client_us,
        f"engine{NEW_EACH}": new.failed or 1e6 * new.whole,
        "engine : library": new.failed or 1e6 * new.whole / library.client_us,
        f"wrk{NEW_EACH}": 1e6 * wrk,
        f"ab{NEW_EACH}": 1e6 * ab,
        "wrk : engine, handshakes": new.failed or wrk / new.whole,
        "ab : engine, handshakes": new.failed or ab / new.whole,
        "wrk: kept connections": 1e6 * kept_wrk,
        "engine: kept connections": kept.failed or 1e6 * kept.whole,
        "wrk : engine, requests": kept.failed or kept_wrk / kept.whole,
        "memory, library's client": library.client_bytes,
        "memory, library's server": library.server_bytes,
    }


def of_library() -> Library:
    """What OpenSSL takes alone, on the load's core."""
    done = subprocess.run(
        ["taskset", "-c", str(cpus()[0]), str(BUILD / LIBRARY), str(LIBRARY_S)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = _LIBRARY_SAYS.search(done.stdout)
    if found is None:
        raise StackcostError(f"{LIBRARY} said: {done.stdout}")
    return Library(*(float(each) for each in found.groups()))


def of_bytes() -> dict[str, float | str]:
    """Payload of long streams of responses, both ends on one core."""
    wire = Port("wire")
    with driven(TrexConfig("bench", [wire, wire], [cpus()[0], cpus()[0]], *RPC_PORTS)) as engine:
        asked = {"response_bytes": RECORD_RESPONSE, "requests": 10**9, "cps": STREAMS}
        load(engine, "http_keepalive.py", asked, TLS)
        engine.client.start(1, duration=1.0)
        time.sleep(2.0)
        since, before = data_seconds(engine.process_id), received_over_tls(engine)
        time.sleep(2.0)
        bytes_received = received_over_tls(engine) - before
        payload = bytes_received / (data_seconds(engine.process_id) - since)
        engine.client.stop()
    cipher = of_library().both_ways
    return {
        "payload, 32 KB": payload,
        "cipher, 32 KB": cipher,
        "payload : cipher": payload / cipher,
    }


def of_memory() -> dict[str, float | str]:
    """Bytes of an end of an idle flow: the slope between two numbers of flows."""
    wire = Port("wire")
    limit = ENDS * max(HELD_FLOWS) * 11 // 10
    config = TrexConfig("bench", [wire, wire], [cpus()[0], cpus()[-1]], *RPC_PORTS, flows=limit)
    points = []
    with driven(config) as engine:
        for flows in HELD_FLOWS:
            hold(engine, flows, HELD_RATE, TLS)
            pools = engine.client.call("stackcost_get_memory", {})["pools"]
            points.append(
                (sum(pool["reserved_bytes"] for pool in pools), resident_bytes(engine.process_id))
            )
            engine.client.stop()
    few, many = points
    ends = ENDS * (HELD_FLOWS[1] - HELD_FLOWS[0])
    return {
        "memory, engine's pools": (many[0] - few[0]) / ends,
        "memory, whole process": (many[1] - few[1]) / ends,
    }
