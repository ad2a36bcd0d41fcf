"""Overhead: whether reading changes the ceiling that is read.

wrk saturates nginx over the test bed's wire, a new connection for each request; its rate with all
collectors of the machine, once a second, against its rate without, in turn: A B A B.
"""

import subprocess
import tempfile
import time
from pathlib import Path

from harness.collect.sampler import Sampler
from harness.experiment.session import SAMPLE_INTERVAL_S, machine_collectors
from harness.testbed import network
from harness.testbed.local import LocalTestbed
from harness.truth.row import Row, row
from servers.nginx_kernel import NginxKernel

BODY_BYTES = 32_000
CONNECTIONS = 64
WARM_UP_S = 0.5
PIECE_S = 1.0
OVERHEAD_TOLERANCE = 0.01


def prove_overhead(rounds: int, cpus: tuple[int, int] = (0, 1)) -> Row:
    """Connections per second at saturation, without (known) and with collectors (seen).

    Each round is of four pieces, without, with, with, without, all under one wrk, so that a
    drift meets both alike. `cpus`: the load's core and the server's.
    """
    load, server = cpus
    without, with_all = [], []
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        LocalTestbed([load], [server], wanted_hugepages=0) as bed,
        network.kernel_client(),
    ):
        nginx = NginxKernel(bed.endpoint(Path(folder)), body_bytes=BODY_BYTES)
        nginx.start()
        try:
            for _ in range(rounds):
                off, on = _round(bed, nginx)
                without.append(off)
                with_all.append(on)
        finally:
            nginx.stop()
    return row("connections/s at saturation, all collectors on : off", "1/s", without, with_all)


def _round(bed: LocalTestbed, nginx: NginxKernel) -> tuple[float, float]:
    """Rates without and with collectors."""
    processes = nginx.processes()
    seconds = WARM_UP_S + 8 * PIECE_S + 2
    address = f"http://{network.SERVICE_ADDRESS}/"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}", "-H", "Connection: close"]
    wrk = bed.run(bed.load_namespace, [*command, address], bed.cpus.load, stdout=subprocess.DEVNULL)
    try:
        time.sleep(WARM_UP_S)
        rates: dict[bool, list[float]] = {False: [], True: []}
        for on in (False, True, True, False):
            collectors = machine_collectors(bed.server_namespace, processes) if on else []
            with Sampler(collectors, SAMPLE_INTERVAL_S, bed.cpus.load):
                rates[on].append(_rate(nginx))
    finally:
        wrk.terminate()
        wrk.wait()
    return sum(rates[False]) / 2, sum(rates[True]) / 2


def _rate(nginx: NginxKernel) -> float:
    """Requests per second over one piece, by nginx's own count."""
    before, since = nginx.requests_served() or 0, time.monotonic()
    time.sleep(PIECE_S)
    return ((nginx.requests_served() or 0) - before) / (time.monotonic() - since)
