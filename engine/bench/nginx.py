"""CPU time per connection as a client of nginx, beside wrk and ab: a connection for each request.

All three ask the same nginx over the test bed's veth pair in one run, in turn, from one core. What
a client costs is what that core spends on it: its own threads, softirqs and interrupts. The engine
polls, so of its data thread only the busy time counts (RPC stackcost_get_cpu); the thread in which
the kernel receives for it counts whole. Busy time is by the clock, so what interrupts a busy pass
counts twice: the engine's figure is an upper bound. The lower one takes all interruptions of the
data thread to have met busy passes.
"""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.core_time import core_time
from tools.engine import PROFILES, RPC_PORTS, Driven, driven
from tools.figures import Figure, Measured, number, report, say
from tools.machine import cpus

from harness.errors import StackcostError
from harness.load.trex_config import Port, TrexConfig
from harness.testbed import network
from harness.testbed.local import LocalTestbed
from harness.testbed.namespace import find_program, spawner
from servers.nginx_kernel import NginxKernel

BODY_BYTES = 32_000
CONNECTIONS = 64  # open at a time, by wrk and ab
OFFERED = 0.8  # of what wrk got from this nginx: the engine keeps a schedule, and must not drown it
WARM_UP_S, MEASURE_S = 1.0, 3.0
SHARE_OF_WRK = 0.2

URL = f"http://{network.SERVICE_ADDRESS}/"
SECONDS = "60"  # at most; each is ended after its window
CLIENTS = {
    "wrk": ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}", "-H", "Connection: close", URL],
    "ab": ["ab", "-q", "-r", f"-c{CONNECTIONS}", f"-t{SECONDS}", "-n100000000", URL],
}
POLL_THREAD = "napi/"
DATA_THREAD = "data-"


def run(trials: int) -> dict[str, Any]:
    """Each trial: wrk, ab, then the engine, which has the interface to itself while it runs."""
    if len(cpus()) < 2:
        raise StackcostError("one CPU only", "give the benchmark a CPU for each side")
    for program in CLIENTS:
        find_program(program)
    load, server = cpus()[0], cpus()[1]
    measured = {figure.name: Measured(figure) for figure in figures()}
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        LocalTestbed([load], [server]) as bed,
    ):
        nginx = NginxKernel(bed.endpoint(Path(folder)), body_bytes=BODY_BYTES)
        nginx.start()
        try:
            for trial in range(trials):
                seen = one_trial(bed, nginx)
                for name, value in seen.items():
                    measured[name].trials.append(value)
                say(trial, trials, ", ".join(f"{k}: {number(v)}" for k, v in seen.items()))
        finally:
            nginx.stop()
    return report(list(measured.values()))


def figures() -> list[Figure]:
    """What is measured, in the table's order."""
    each = "of the load's core for each request that nginx counted"
    spent = f"the program, softirqs and interrupts, {each}; {CONNECTIONS} connections at a time"
    return [
        Figure("wrk", "us/connection", spent),
        Figure("ab", "us/connection", spent),
        Figure(
            "engine",
            "us/connection",
            f"busy time, the kernel's receive thread, softirqs and interrupts, {each}; "
            f"{OFFERED:.0%} of wrk's rate offered, no failed flow",
        ),
        Figure(
            "engine, at least",
            "us/connection",
            "the same less all the time the data thread was interrupted",
        ),
        Figure("engine's busy time", "us/connection", f"stackcost_get_cpu, {each}"),
        Figure(
            "in the kernel for sending",
            "us/connection",
            f"system time of the data thread: the way onto the veth, a part of busy time, and "
            f"the turns it offers others, {each}; in a window of its own, as telling it apart "
            "slows system calls",
        ),
        Figure(
            "in the kernel for receiving",
            "us/connection",
            f"the poll thread: from the veth into the engine's memory, {each}",
        ),
        Figure(
            "engine : wrk",
            "",
            "the ratio of the two above, in each trial",
            target=SHARE_OF_WRK,
            lower_is_better=True,
        ),
        Figure(
            "engine without hand-over : wrk",
            "",
            "busy time less what was in the kernel for sending, to wrk: about what the engine "
            "itself takes, and all there is where a device is driven from user space",
        ),
        Figure("wrk's rate", "connections/s", "requests that nginx counted"),
        Figure("engine's rate", "connections/s", "requests that nginx counted"),
        Figure(
            "engine sent twice",
            "segments/connection",
            "tcps_sndrexmitpack / tcps_connects: above 0 where the machine was busy",
        ),
    ]


def one_trial(bed: LocalTestbed, nginx: NginxKernel) -> dict[str, float]:
    """Every figure once, by its name."""
    (wrk, wrk_rate), (ab, _) = (of_kernel_client(bed, nginx, name) for name in CLIENTS)
    with engine_in(bed, nginx, OFFERED * wrk_rate) as engine:
        with core_time(bed.cpus.load[0]) as spent:
            before = clock_seconds(engine)
            requests = count_requests(nginx)
            busy, passed = (b - a for a, b in zip(before, clock_seconds(engine), strict=True))
        with core_time(bed.cpus.load[0], split_at_syscalls=True) as split:
            split_requests = count_requests(nginx)
        client = engine.client.stats()["traffic"]["client"]
        for failure in ("tcps_drops", "tcps_conndrops"):
            if client[failure]:
                raise StackcostError(f"{client[failure]} flows failed against nginx ({failure})")
    interrupted = min(max(passed - spent.of(DATA_THREAD), 0), busy) / requests
    busy /= requests
    polled = spent.of(POLL_THREAD) / requests
    whole = busy + polled + spent.interrupts / requests
    sending = split.of(DATA_THREAD, "system") / split_requests
    return {
        "wrk": 1e6 * wrk,
        "ab": 1e6 * ab,
        "engine": 1e6 * whole,
        "engine, at least": 1e6 * (whole - interrupted),
        "engine's busy time": 1e6 * busy,
        "in the kernel for sending": 1e6 * sending,
        "in the kernel for receiving": 1e6 * polled,
        "engine : wrk": whole / wrk,
        "engine without hand-over : wrk": (busy - sending) / wrk,
        "wrk's rate": wrk_rate,
        "engine's rate": requests / spent.seconds,
        "engine sent twice": client["tcps_sndrexmitpack"] / client["tcps_connects"],
    }


def of_kernel_client(bed: LocalTestbed, nginx: NginxKernel, name: str) -> tuple[float, float]:
    """Seconds of the load's core for a request, and requests per second, of wrk or ab."""
    with network.kernel_client():
        client = bed.run(
            bed.load_namespace,
            CLIENTS[name],
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
    return (spent.of(name) + spent.interrupts) / requests, requests / spent.seconds


@contextmanager
def engine_in(bed: LocalTestbed, nginx: NginxKernel, cps: float) -> Iterator[Driven]:
    """An engine under way on the load's end."""
    link = Port(bed.load_interface, network.LOAD_ADDRESS, network.SERVER_ADDRESS)
    config = TrexConfig("bench", (link, Port("dummy")), bed.cpus.load, *RPC_PORTS)
    with driven(config, spawner(bed.load_namespace, bed.cpus.load)) as engine:
        bed.steer()
        tunables = {"response_bytes": nginx.response_length(), "cps": cps}
        engine.client.load_profile(PROFILES / "http_program.py", tunables)
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


def clock_seconds(engine: Driven) -> tuple[float, float]:
    """Time the data core found something to do, and all its time, so far."""
    answer = engine.client.call("stackcost_get_cpu", {})
    busy, passed = (
        sum(core[name] for core in answer["cores"]) / answer["tsc_hz"]
        for name in ("busy_cycles", "total_cycles")
    )
    return busy, passed
