"""Overhead: by how much the collectors change the measured cost.

Two collectors use the server's core: the BPF program that measures CPU time at each event (task
switch, softirq, interrupt), and the program that measures the core's speed. All others run on the
generator's core. The time that one event adds is measured with programs that switch tasks or send
packets to themselves (one softirq each), with and without the BPF program: the shortest time of
many batches. The BPF program counts the events of a connection. The kernel's idle time (/proc/stat)
gives the cost of a connection without any collector. The ceiling falls by the share by which the
cost of a connection rises, and by the share of the core that the other program uses.

A search for a ceiling measures only task switches, and the row is about these trials. Its name also
gives the overhead if softirqs and interrupts are measured, too.

A comparison of a server with and without collectors would show the noise of the machine: on shared
cores the cost of a connection varies by 20 % within seconds.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from stackcost.analysis.ceiling.ramp import rising
from stackcost.bed.local import LocalTestbed
from stackcost.collect.core_speed import CoreSpeed
from stackcost.collect.cpu import CpuTime
from stackcost.collect.cpu_account import (
    SOFTIRQ_COUNT,
    SWITCHES,
    CpuAccount,
    Detail,
)
from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import IRQ_COUNT, TASK_TIME
from stackcost.contracts.server import Server
from stackcost.contracts.wiring import Port
from stackcost.host.namespace import spawner
from stackcost.servers.registry import server_class
from stackcost.session.server_settings import tunables_of
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.trex_config import TrexConfig

from .bed import selfcheck_experiment
from .least_time import SEND_TO_SELF, SWITCH_TWICE, least_microseconds
from .row import Row, row

LOW_CPS = 3000.0
STEP = 1.15  # from one load to the next on the way up to the ceiling
FULL_IDLE = 0.02  # a core with less idle time is full
MOST_CPS = 100_000.0
WARM_UP_S = 3.0
SETTLE_S = 1.0
PIECE_S = 2.0
OVERHEAD_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class Bookings:
    """Task switches, and softirqs plus interrupts: their numbers, or the microseconds per event."""

    switches: float
    interruptions: float

    def __str__(self) -> str:
        return f"{self.switches:.1f} switches, {self.interruptions:.1f} softirqs and interrupts"


class Added(NamedTuple):
    """Microseconds that one event adds if only tasks are measured, and if all kinds are."""

    of_tasks: Bookings
    all: Bookings


@dataclass(frozen=True, slots=True)
class Piece:
    """The cost of a connection without collectors, in microseconds, and its events."""

    cost: float
    bookings: Bookings

    def with_collectors(self, added: Bookings) -> float:
        """The cost if each event adds this number of microseconds."""
        return (
            self.cost
            + self.bookings.switches * added.switches
            + self.bookings.interruptions * added.interruptions
        )


def check_overhead(rounds: int, cpus: tuple[int, int] = (0, 1)) -> Row:
    """Busy microseconds of the server's core per connection without collectors (known), and with.

    The row is for the ceiling, as a search finds it. Its name also gives the overhead if softirqs
    and interrupts are measured, too: at the ceiling, and at a low load, where the server is woken
    for every packet and has several times as many events. `cpus`: the load's core and the server's.
    """
    load, server = cpus
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-") as folder,
        LocalTestbed([load], [server]) as bed,
    ):
        with _loaded_nginx(bed, Path(folder)) as (nginx, client):
            low = _median([_piece(nginx, server) for _ in range(rounds)])
            ceiling, full = _at_ceiling(nginx, client, server, rounds)
            probe = median(_probe_share(server) for _ in range(rounds))
        added = [_added(bed.server_namespace, server) for _ in range(rounds)]
    return overhead_row(ceiling, low, full, added, probe)


def overhead_row(
    ceiling: float, low: Piece, full: Piece, added: Sequence[Added], probe: float
) -> Row:
    """The cost that a search's collectors add to a connection at the ceiling, for each of `added`.

    `probe`: share of the core (0 to 1) that the program for the core's speed uses.
    """

    def all_of(piece: Piece) -> float:
        costs = [piece.with_collectors(each.all) / (1 - probe) for each in added]
        return median(costs) / piece.cost - 1

    return row(
        f"busy time of the server's core at the ceiling ({ceiling:,.0f} connections/s offered), "
        f"with a search's collectors: {full.bookings.switches:.1f} task switches, {probe:.2%} "
        f"for the speed probe; if softirqs are measured, too: {all_of(full):+.1%} "
        f"at the ceiling ({full.bookings}), {all_of(low):+.1%} at {LOW_CPS:,.0f} ({low.bookings})",
        "us per connection",
        [full.cost] * len(added),
        [full.with_collectors(each.of_tasks) / (1 - probe) for each in added],
    )


def _median(pieces: Sequence[Piece]) -> Piece:
    return Piece(
        median(piece.cost for piece in pieces),
        Bookings(
            median(piece.bookings.switches for piece in pieces),
            median(piece.bookings.interruptions for piece in pieces),
        ),
    )


def _at_ceiling(nginx: Server, client: TrexClient, cpu: int, rounds: int) -> tuple[float, Piece]:
    """The offered load at the ceiling, in connections/s, and the median of `rounds` full pieces.

    Full: the core had no idle time. If it had, the load is raised: when other load on the host
    ends, the core has idle time at the former ceiling, and with it more events.
    """
    full: list[Piece] = []
    for load in rising(LOW_CPS, STEP, MOST_CPS):
        client.update(load)
        time.sleep(SETTLE_S)
        while True:
            idle, since = _idle(cpu), time.monotonic()
            piece = _piece(nginx, cpu)
            if _idle(cpu) - idle >= FULL_IDLE * (time.monotonic() - since):
                break
            full.append(piece)
            if len(full) == rounds:
                return load, _median(full)
    raise StackcostError(f"core {cpu} has idle time at {MOST_CPS:,.0f} connections/s")


def _piece(nginx: Server, cpu: int) -> Piece:
    return Piece(_cost(nginx, cpu), _bookings(nginx, cpu))


def _bookings(nginx: Server, cpu: int) -> Bookings:
    """The events per connection on a core, over one piece."""
    with CpuAccount() as account:
        served, before = nginx.requests_served() or 0, _counts(account, cpu)
        time.sleep(PIECE_S)
        connections = (nginx.requests_served() or 0) - served
        after = _counts(account, cpu)
    return Bookings(
        (after.switches - before.switches) / connections,
        (after.interruptions - before.interruptions) / connections,
    )


def _probe_share(cpu: int) -> float:
    """Share of a core that the program for the core's speed uses, over one piece.

    The softirqs that interrupt this program belong to the server and are not included.
    """
    with CoreSpeed([cpu]) as speed, CpuAccount() as account:
        (process,) = speed.process_ids()
        before, since = _ran(account, process), time.monotonic()
        time.sleep(PIECE_S)
        return (_ran(account, process) - before) / (time.monotonic() - since)


def _ran(account: CpuAccount, process: int) -> float:
    """Seconds that a process ran."""
    return sum(
        sample.value or 0
        for sample in account.read()
        if sample.metric == TASK_TIME.name and sample.labels["process"] == str(process)
    )


def _counts(account: CpuAccount, cpu: int) -> Bookings:
    read = [sample for sample in account.read() if sample.labels.get("cpu") == str(cpu)]
    switches, interruptions = (
        sum(sample.value or 0 for sample in read if sample.metric in metrics)
        for metrics in ((SWITCHES.name,), (SOFTIRQ_COUNT.name, IRQ_COUNT.name))
    )
    return Bookings(switches, interruptions)


def _added(namespace: str, cpu: int) -> Added:
    """The time that the measurement adds to each event; for an interruption, at both ends."""
    without = _least(namespace, cpu)

    def with_account(detail: Detail) -> Bookings:
        with CpuAccount(detail):
            least = _least(namespace, cpu)
        return Bookings(
            least.switches - without.switches, least.interruptions - without.interruptions
        )

    return Added(with_account(Detail.TASKS), with_account(Detail.SOFTIRQS))


def _least(namespace: str, cpu: int) -> Bookings:
    return Bookings(
        least_microseconds(namespace, cpu, *SWITCH_TWICE) / 2,
        least_microseconds(namespace, cpu, *SEND_TO_SELF),
    )


@contextmanager
def _loaded_nginx(bed: LocalTestbed, folder: Path) -> Iterator[tuple[Server, TrexClient]]:
    """nginx under the low load, after its warm-up, and the clients."""
    workload = selfcheck_experiment().workload
    kind: Any = server_class("nginx/kernel")
    nginx = kind(bed.endpoint(folder), body_bytes=workload.response_bytes)
    spawn = spawner(bed.load_namespace, bed.cpus.load)
    ports = (Port(bed.load_interface, LOAD_ADDRESS, SERVER_ADDRESS), Port("dummy"))
    config = TrexConfig("generator", ports, bed.cpus.load)
    nginx.start()
    try:
        with AstfServer(config, folder, spawn), TrexClient(spawn) as client:
            client.connect()
            client.reset()
            bed.steer()
            profile = selfcheck_experiment().load.profile
            client.load_profile(profile, tunables_of(workload, nginx.response_length()))
            client.start(mult=LOW_CPS)
            time.sleep(WARM_UP_S)
            yield nginx, client
            client.stop()
    finally:
        nginx.stop()


def _cost(nginx: Server, cpu: int) -> float:
    """Busy microseconds of a core per answered request, over one piece."""
    before, idle, since = nginx.requests_served() or 0, _idle(cpu), time.monotonic()
    time.sleep(PIECE_S)
    busy = time.monotonic() - since - (_idle(cpu) - idle)
    return busy / ((nginx.requests_served() or 0) - before) * 1e6


def _idle(cpu: int) -> float:
    """Idle seconds of a core since boot; exact, printed in hundredths (fs/proc/stat.c)."""
    return sum(
        sample.value or 0.0
        for sample in CpuTime().read()
        if sample.labels["cpu"] == str(cpu) and sample.labels["kind"] in ("idle", "iowait")
    )
