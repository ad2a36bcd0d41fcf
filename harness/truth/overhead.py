"""Overhead: whether reading changes what is read.

Connections at a fixed offered load, and the busy time of the server's core for each, with all
collectors of the machine once a second and without, in turn: A B B A. The core's idle time is the
kernel's own account (/proc/stat), which needs no collector. A ceiling falls by as much as a
connection's cost rises.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.collect.sampler import Sampler
from harness.experiment.session import SAMPLE_INTERVAL_S, machine_collectors
from harness.experiment.task import tunables_of
from harness.load.client import TrexClient
from harness.load.generator import Generator
from harness.load.trex_config import Port, TrexConfig
from harness.testbed.local import LocalTestbed
from harness.testbed.namespace import spawner
from harness.testbed.network import LOAD_ADDRESS, SERVER_ADDRESS
from harness.truth.bed import truth_experiment
from harness.truth.row import Row, row
from servers.nginx_kernel import NginxKernel

OFFERED_CPS = 3000
WARM_UP_S = 3.0
PIECE_S = 2.0
OVERHEAD_TOLERANCE = 0.01
TICKS = os.sysconf("SC_CLK_TCK")


def prove_overhead(rounds: int, cpus: tuple[int, int] = (0, 1)) -> Row:
    """Busy microseconds of the server's core per connection, without (known) and with (seen).

    Each round is of four pieces, without, with, with, without, under one load, so that a drift
    meets both alike. `cpus`: the load's core and the server's.
    """
    load, server = cpus
    without, with_all = [], []
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        LocalTestbed([load], [server]) as bed,
        _loaded_nginx(bed, Path(folder)) as nginx,
    ):
        processes = nginx.processes()
        for _ in range(rounds):
            costs: dict[bool, list[float]] = {False: [], True: []}
            for on in (False, True, True, False):
                collectors = machine_collectors(bed.server_namespace, processes) if on else []
                with Sampler(collectors, SAMPLE_INTERVAL_S, bed.cpus.load):
                    costs[on].append(_cost(nginx, server))
            without.append(sum(costs[False]) / 2)
            with_all.append(sum(costs[True]) / 2)
    name = f"busy time of the server's core at {OFFERED_CPS:,} connections/s, collectors on : off"
    return row(name, "us per connection", without, with_all)


@contextmanager
def _loaded_nginx(bed: LocalTestbed, folder: Path) -> Iterator[NginxKernel]:
    """nginx under the offered load, past its warm-up."""
    workload = truth_experiment().workload
    nginx = NginxKernel(bed.endpoint(folder), body_bytes=workload.response_bytes)
    spawn = spawner(bed.load_namespace, bed.cpus.load)
    ports = (Port(bed.load_interface, LOAD_ADDRESS, SERVER_ADDRESS), Port("dummy"))
    config = TrexConfig("generator", ports, bed.cpus.load)
    nginx.start()
    try:
        with Generator(config, folder, spawn), TrexClient(spawn) as client:
            client.connect()
            client.reset()
            bed.steer()
            profile = truth_experiment().load.profile
            client.load_profile(profile, tunables_of(workload, nginx.response_length()))
            client.start(mult=OFFERED_CPS)
            time.sleep(WARM_UP_S)
            yield nginx
            client.stop()
    finally:
        nginx.stop()


def _cost(nginx: NginxKernel, cpu: int) -> float:
    """Microseconds that a core was not idle per request answered, over one piece."""
    before, idle, since = nginx.requests_served() or 0, _idle(cpu), time.monotonic()
    time.sleep(PIECE_S)
    busy = time.monotonic() - since - (_idle(cpu) - idle)
    return busy / ((nginx.requests_served() or 0) - before) * 1e6


def _idle(cpu: int) -> float:
    """Seconds that a core was idle since boot: exact, printed in hundredths (fs/proc/stat.c)."""
    for line in Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name == f"cpu{cpu}":
            return (int(ticks[3]) + int(ticks[4])) / TICKS
    raise ValueError(f"/proc/stat has no CPU {cpu}")
