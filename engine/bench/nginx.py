"""CPU time per connection as a client of nginx, beside wrk and ab: a connection for each request.

All ask the same nginx over the test bed's veth pair in one run, in turn, from one core. What a
client costs is all that core spends on it: its own threads, softirqs and interrupts. The engine
polls, so of its data thread only the busy time counts (RPC stackcost_get_cpu); it is by the clock,
so an interrupt within it counts twice, to the engine's disadvantage.

The engine sits on a packet socket, where the server's segments arrive as wrk's do: put together by
the kernel, checksums left out. On AF_XDP, measured as well, each frame is handed over by itself.
The server's end receives as a NIC with interrupt moderation does (network.moderate_server_receive),
for all of them.

wrk and ab wait for nginx; the engine keeps its schedule. When the host takes its core away for
most of a second it opens at once what is overdue: more than the accept queue of 511 holds that
nginx asks for. The SYNs that find it full are sent again, all at once again, four times within
keepinit, and what is left then fails. Hence the queue is as long as the kernel's own default. A
trial in which flows failed all the same has no figure of that engine's, and says why.
"""

import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.busy import busy_seconds
from tools.core_time import CoreTime, core_time
from tools.engine import RPC_PORTS, Driven, driven, load
from tools.failures import accept_queue_overflows, told
from tools.figures import Figure, Measured, number, report, say
from tools.machine import cpus

from stackcost.bed import network
from stackcost.bed.local import LocalTestbed
from stackcost.collect.cpu_account import Detail
from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS, SERVICE_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.wiring import Port
from stackcost.host.kernel_client import kernel_client
from stackcost.host.namespace import find_program, spawner
from stackcost.servers.registry import server_class
from stackcost.trex.trex_config import TrexConfig

NginxKernel = server_class("nginx/kernel")

BODY_BYTES = 32_000
GET = b"GET / HTTP/1.1\r\nHost: 48.0.0.1\r\n\r\n"
CONNECTIONS = 64  # open at a time, by wrk and ab
ACCEPT_QUEUE = 4096  # net.core.somaxconn of a new network namespace
OFFERED = 0.8  # of what wrk got from this nginx: the engine keeps a schedule, and must not drown it
WARM_UP_S, MEASURE_S = 1.0, 3.0
SHARE_OF_WRK = 0.2

URL = f"http://{SERVICE_ADDRESS}/"
SECONDS = "60"  # at most; each is ended after its window
CLIENTS = {
    "wrk": ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}", "-H", "Connection: close", URL],
    "ab": ["ab", "-q", "-r", f"-c{CONNECTIONS}", f"-t{SECONDS}", "-n100000000", URL],
}
ENGINES = {  # how the engine takes the interface
    "engine": f"packet:{LocalTestbed.load_interface}",
    "engine on AF_XDP": LocalTestbed.load_interface,
}
KERNEL_THREADS = ("napi/", "ksoftirqd/")  # where receiving goes on outside of softirqs
DATA_THREAD = "data-"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the engine asks nginx for. `tls`: parameters of stackcost_set_tls; None: no TLS."""

    tunables: dict[str, Any]
    profile: str = "http_program.py"
    tls: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the load's core for a request of the engine's, and what else was seen."""

    busy: float  # the data thread, whenever it had something to do
    in_calls: float  # of that, in system calls: frames on their way to the veth
    receiving: float  # the kernel's softirqs, interrupts and threads that receive
    rate: float  # requests per second
    sent_twice: float  # segments per connection
    failed: str  # which flows failed, and why; empty when none did

    @property
    def whole(self) -> float:
        """All that the engine costs."""
        return self.busy + self.receiving


def run(trials: int) -> dict[str, Any]:
    """Each trial: wrk, ab, then the engine, which has the interface to itself while it runs."""
    if len(cpus()) < 2:
        raise StackcostError("one CPU only", "give the benchmark a CPU for each side")
    for program in CLIENTS:
        find_program(program)
    load_cpu, server_cpu = cpus()[0], cpus()[1]
    measured = {figure.name: Measured(figure) for figure in figures()}
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        LocalTestbed([load_cpu], [server_cpu]) as bed,
    ):
        network.moderate_server_receive()
        settings = ServerSettings(BODY_BYTES, GET, program=ProgramSettings(backlog=ACCEPT_QUEUE))
        nginx = NginxKernel(bed.endpoint(Path(folder)), settings)
        nginx.begin()
        try:
            for trial in range(trials):
                seen = one_trial(bed, nginx)
                for name, value in seen.items():
                    measured[name].add(value)
                say(trial, trials, words(seen))
        finally:
            nginx.stop()
    return report(list(measured.values()))


def figures() -> list[Figure]:
    """What is measured, in the table's order."""
    each = "of the load's core for each request that nginx counted"
    spent = f"the program, softirqs and interrupts, {each}; {CONNECTIONS} connections at a time"
    engine = (
        f"its loop's busy time and the kernel's receiving, {each}; {OFFERED:.0%} of wrk's rate "
        "offered, no failed flow"
    )
    return [
        Figure("wrk", "us/connection", spent),
        Figure("ab", "us/connection", spent),
        Figure("engine", "us/connection", f"on a packet socket: {engine}"),
        Figure("engine on AF_XDP", "us/connection", engine),
        Figure("engine's loop", "us/connection", f"on a packet socket: stackcost_get_cpu, {each}"),
        Figure(
            "in system calls",
            "us/connection",
            f"of that, the data thread's system time: frames on their way into the veth, {each}; "
            "in a window of its own, as telling it apart slows system calls",
        ),
        Figure(
            "kernel's receiving",
            "us/connection",
            f"on a packet socket: softirqs and interrupts, {each}",
        ),
        Figure(
            "engine : wrk",
            "",
            "the ratio of the two above, in each trial",
            target=SHARE_OF_WRK,
            lower_is_better=True,
        ),
        Figure("wrk's rate", "connections/s", "requests that nginx counted"),
        Figure("engine's rate", "connections/s", "requests that nginx counted"),
        Figure(
            "engine sent twice",
            "segments/connection",
            "tcps_sndrexmitpack / tcps_connects: above 0 where the machine was busy",
        ),
    ]


def one_trial(bed: LocalTestbed, nginx: NginxKernel) -> dict[str, float | str]:
    """Every figure once, by its name; of an engine whose flows failed what failed, and why."""
    (wrk, wrk_rate), (ab, _) = (
        of_kernel_client(bed, nginx, command) for command in CLIENTS.values()
    )
    asked = Asked({"response_bytes": nginx.response_length(), "cps": OFFERED * wrk_rate})
    engines = {name: of_engine(bed, nginx, interface, asked) for name, interface in ENGINES.items()}
    engine = engines["engine"]
    of_packet_socket = {
        "engine's loop": 1e6 * engine.busy,
        "in system calls": 1e6 * engine.in_calls,
        "kernel's receiving": 1e6 * engine.receiving,
        "engine : wrk": engine.whole / wrk,
        "engine's rate": engine.rate,
        "engine sent twice": engine.sent_twice,
    }
    return {
        "wrk": 1e6 * wrk,
        "ab": 1e6 * ab,
        "wrk's rate": wrk_rate,
        **{name: spent.failed or 1e6 * spent.whole for name, spent in engines.items()},
        **{name: engine.failed or value for name, value in of_packet_socket.items()},
    }


def words(seen: Mapping[str, float | str]) -> str:
    """A trial's line: the figures that it has, and once each why it lacks others."""
    known = [f"{name}: {number(value)}" for name, value in seen.items() if isinstance(value, float)]
    return ", ".join(known) + "".join(
        f"; {why}" for why in dict.fromkeys(each for each in seen.values() if isinstance(each, str))
    )


def of_engine(bed: LocalTestbed, nginx: NginxKernel, interface: str, asked: Asked) -> Spent:
    """What a request costs the load's core when the engine asks."""
    with (
        accept_queue_overflows(bed.server_namespace) as overflows,
        engine_in(bed, interface, asked) as engine,
    ):
        with core_time(bed.cpus.load[0]) as spent:
            before = busy_seconds(engine).whole
            requests = count_requests(nginx)
            busy = busy_seconds(engine).whole - before
        with core_time(bed.cpus.load[0], Detail.SYSTEM_CALLS) as split:
            split_requests = count_requests(nginx)
        client = engine.client.stats()["traffic"]["client"]
        failed = told(interface, client, overflows.count())
    return Spent(
        busy=busy / requests,
        in_calls=split.of(DATA_THREAD, "system") / split_requests,
        receiving=receiving(spent) / requests,
        rate=requests / spent.seconds,
        sent_twice=client["tcps_sndrexmitpack"] / client["tcps_connects"],
        failed=failed,
    )


def of_kernel_client(
    bed: LocalTestbed, nginx: NginxKernel, command: list[str]
) -> tuple[float, float]:
    """Seconds of the load's core for a request, and requests per second, of wrk or ab."""
    name = command[0]
    with kernel_client():
        client = bed.run(
            bed.load_namespace,
            command,
            bed.cpus.load,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(WARM_UP_S)
            with core_time(bed.cpus.load[0]) as spent:
                requests = count_requests(nginx)
            if client.poll() is not None:
                raise StackcostError(f"{name} ended before its time, with {client.returncode}")
        finally:
            client.terminate()
            client.wait()
    return (spent.of(name) + receiving(spent)) / requests, requests / spent.seconds


def receiving(spent: CoreTime) -> float:
    """Seconds of the core in softirqs, interrupts, and threads that softirqs were put off to."""
    return spent.interrupts + sum(spent.of(thread) for thread in KERNEL_THREADS)


@contextmanager
def engine_in(bed: LocalTestbed, interface: str, asked: Asked) -> Iterator[Driven]:
    """An engine under way on the load's end."""
    link = Port(interface, LOAD_ADDRESS, SERVER_ADDRESS)
    config = TrexConfig("bench", (link, Port("dummy")), bed.cpus.load, *RPC_PORTS)
    with driven(config, spawner(bed.load_namespace, bed.cpus.load)) as engine:
        bed.leave_clients_to_generator()
        bed.steer()
        load(engine, asked.profile, asked.tunables, asked.tls)
        engine.client.start(1, duration=float(SECONDS))
        time.sleep(WARM_UP_S)
        yield engine
        engine.client.stop()


def count_requests(nginx: NginxKernel) -> int:
    """How many requests nginx counts in a window from now on."""
    try:
        before = nginx.requests_served() or 0
        time.sleep(MEASURE_S)
        requests = (nginx.requests_served() or 0) - before
    except OSError as error:
        raise StackcostError(f"nginx does not say what it served: {error}") from error
    if requests == 0:
        raise StackcostError("nginx counted no request")
    return requests
