"""Latency against nginx at half of its ceiling: the engine, h2load and wrk, in one run.

A new connection for each request of 32,000 bytes. The ceiling is what wrk reaches with 64
connections. h2load is an open loop in bursts of a millisecond, wrk a closed loop. In a second
part nginx stands still for a while: how many connections meet that depends on the generator.
docs/http-clients.md says what the programs' times begin and end with.
"""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram
from nginx import BODY_BYTES, GET
from tools.engine import PROFILES, driven
from tools.figures import Figure, Measured, number, report, say

from stackcost.bed.client_addresses import FIRST_USER, client_addresses
from stackcost.bed.local import LocalTestbed
from stackcost.clients import Addresses, Clients, LoadRequest, LoadResult, program
from stackcost.clients.h2load import CONNECTED
from stackcost.clients.h2load import FIRST_BYTE as FIRST_BYTE_MEAN
from stackcost.clients.program import REQUEST
from stackcost.collect.latency import read_latency
from stackcost.contracts.addresses import (
    CLIENT_ADDRESS,
    LOAD_ADDRESS,
    SERVER_ADDRESS,
    SERVICE_ADDRESS,
)
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.latency import KINDS
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.wiring import Port
from stackcost.host.namespace import spawner
from stackcost.servers.registry import server_class
from stackcost.trex.trex_config import TrexConfig

NginxKernel = server_class("nginx/kernel")

URL = f"http://{SERVICE_ADDRESS}:80"
CEILING_CONNECTIONS = 64
FEW_CONNECTIONS = 4
SECONDS = 3
STALL_AT_S, STALL_S = 1.0, 0.1
SLOW_US = 50_000.0  # half of the stall: nothing else takes so long at half of the ceiling

CONNECT = "connect"
FIRST_BYTE = "first byte"
COMPLETION = "completion"
STALLED = f"slower than {SLOW_US / 1000:g} ms, nginx stopped for {STALL_S * 1000:g} ms"


@dataclass(slots=True)
class Row:
    """Figures by name, and the rate offered, which the first trial settles."""

    figures: dict[str, Measured]
    rate: int = 0

    def add(self, **values: float) -> None:
        """One trial's values, by the figures' keys."""
        for key, value in values.items():
            self.figures[key].trials.append(value)


def run(trials: int) -> dict[str, Any]:
    """Every trial on a test bed and an nginx of its own; all generators in turn."""
    row = Row(_figures())
    for trial in range(trials):
        with _bed() as (bed, nginx):
            with client_addresses([CLIENT_ADDRESS], SERVICE_ADDRESS):
                _ceiling(bed, row)
                _ask_by_h2load(bed, nginx, row)
                with _stall(nginx):
                    row.add(wrk_slow=_wrk_share(bed))
            _ask_by_engine(bed, nginx, row)
        done = row.figures["engine_completion_p50"].trials[-1]
        say(trial, trials, f"at {row.rate:,} connections/s completion p50 {number(done)} us")
    return {"offered_cps": row.rate} | report(list(row.figures.values()))


@contextmanager
def _bed() -> Iterator[tuple[LocalTestbed, NginxKernel]]:
    with tempfile.TemporaryDirectory() as folder, LocalTestbed() as bed:
        nginx = NginxKernel(bed.endpoint(Path(folder)), ServerSettings(BODY_BYTES, GET))
        nginx.begin()
        try:
            yield bed, nginx
        finally:
            nginx.stop()


def _ceiling(bed: LocalTestbed, row: Row) -> None:
    """wrk as fast as it goes; half of that, in thousands, is offered by the others."""
    seen = _told(bed, "wrk", CEILING_CONNECTIONS)
    row.rate = row.rate or max(1000, round(seen.rate / 2000) * 1000)
    times = seen.times[REQUEST]
    row.add(ceiling=seen.rate, wrk_p50=times.percentile(50), wrk_p99=times.percentile(99))


def _ask_by_h2load(bed: LocalTestbed, nginx: NginxKernel, row: Row) -> None:
    seen = _told(bed, "h2load", 1, row.rate)
    times = seen.times[REQUEST]
    row.add(
        h2load_connect_mean=seen.means[CONNECTED],
        h2load_first_byte_mean=seen.means[FIRST_BYTE_MEAN],
        h2load_request_p50=times.percentile(50),
        h2load_request_p99=times.percentile(99),
    )
    with _stall(nginx):
        stalled = _told(bed, "h2load", 1, row.rate)
    row.add(h2load_slow=stalled.times[REQUEST].share_above(SLOW_US))


def _told(bed: LocalTestbed, name: str, connections: int, rate: float | None = None) -> LoadResult:
    """One client on the kernel's stack, a new connection for each request; none may fail."""
    ask = LoadRequest(URL, ("/",), connections, kept=False, seconds=SECONDS, rate=rate)
    addresses = Addresses(FIRST_USER, (CLIENT_ADDRESS,))
    with tempfile.TemporaryDirectory() as folder:
        place = bed.load_namespace, bed.cpus.load, addresses, Path(folder)
        with Clients(program(name), [ask], *place) as clients:
            (told,) = clients.wait()
    if told.failed:
        raise StackcostError(f"{name}: requests failed: {told.failed}")
    return told


def _wrk_share(bed: LocalTestbed) -> float:
    """Of a closed loop at most one request for each connection can meet the stall."""
    seen = _told(bed, "wrk", FEW_CONNECTIONS)
    met = FEW_CONNECTIONS if seen.times[REQUEST].percentile(100) > SLOW_US else 0
    return met / (seen.rate * SECONDS)


def _ask_by_engine(bed: LocalTestbed, nginx: NginxKernel, row: Row) -> None:
    ports = (Port(bed.load_interface, LOAD_ADDRESS, SERVER_ADDRESS), Port("dummy"))
    config = TrexConfig("bench", ports, bed.cpus.load)
    with driven(config, spawner(bed.load_namespace, bed.cpus.load)) as engine:
        bed.steer()
        engine.client.load_profile(
            PROFILES / "http_program.py", {"response_bytes": nginx.response_length()}
        )

        def ask() -> dict[str, HdrHistogram]:
            engine.client.start(row.rate, duration=SECONDS)
            engine.client.wait_on_traffic(SECONDS + 10)
            seen = read_latency(engine.client)
            if seen is None:
                raise StackcostError("this generator tells no latency", "use astf-engine")
            return seen[""]

        steady = ask()
        with _stall(nginx):
            stalled = ask()["completion"]
    for kind in KINDS:
        histogram = steady[kind]
        row.add(
            **{
                f"engine_{kind}_mean": histogram.get_mean_value(),
                f"engine_{kind}_p50": histogram.get_value_at_percentile(50),
                f"engine_{kind}_p99": histogram.get_value_at_percentile(99),
            }
        )
    row.add(engine_slow=_share_above(stalled, SLOW_US))


def _share_above(histogram: HdrHistogram, limit_us: float) -> float:
    slow = sum(
        bucket.count_at_value_iterated_to
        for bucket in histogram.get_recorded_iterator()
        if bucket.value_iterated_to > limit_us
    )
    return float(slow / histogram.get_total_count())


@contextmanager
def _stall(nginx: NginxKernel) -> Iterator[None]:
    """nginx stands still for STALL_S, from STALL_AT_S on."""
    processes = list(nginx.processes().values())

    def tell(what: signal.Signals) -> None:
        for process in processes:
            os.kill(process, what)

    def stall() -> None:
        tell(signal.SIGSTOP)
        time.sleep(STALL_S)
        tell(signal.SIGCONT)

    timer = threading.Timer(STALL_AT_S, stall)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _figures() -> dict[str, Measured]:
    figures = {
        "ceiling": Figure(
            "nginx's ceiling",
            "connections/s",
            f"requests wrk completes with {CEILING_CONNECTIONS} connections, a new one for each",
        )
    }

    def times(name: str, meaning: str) -> Figure:
        return Figure(name, "us", meaning)

    intended = "from the intended start by the open-loop schedule"
    for kind, words in zip(KINDS, (CONNECT, FIRST_BYTE, COMPLETION), strict=True):
        for statistic in ("mean", "p50", "p99"):
            figures[f"engine_{kind}_{statistic}"] = times(
                f"engine: {words}, {statistic}", f"{intended}, at half of the ceiling"
            )
    own = "from when h2load began it, in a burst each millisecond, at half of the ceiling"
    figures |= {
        "h2load_connect_mean": times("h2load: connect, mean", own),
        "h2load_first_byte_mean": times("h2load: first byte, mean", own),
        "h2load_request_p50": times(
            "h2load: request, p50",
            "from sending the request, after the connect, at half of the ceiling",
        ),
        "h2load_request_p99": times("h2load: request, p99", "the same"),
        "wrk_p50": times(
            "wrk: request, p50",
            "from writing the request, after the connect; closed loop at the ceiling",
        ),
        "wrk_p99": times("wrk: request, p99", "the same"),
    }
    for name, words in (
        ("engine", "engine"),
        ("h2load", "h2load"),
        ("wrk", f"wrk with {FEW_CONNECTIONS} connections"),
    ):
        figures[f"{name}_slow"] = Figure(f"{words}: {STALLED}", "1", "share of the run's requests")
    return {key: Measured(figure) for key, figure in figures.items()}
