"""Known memory: a known amount of memory per flow must change the slope by that amount.

A second observer at work must not change it.

There are two amounts: bytes that the server allocates for each connection, and a request that it
leaves in the socket buffer. The kernel reports the charge of each socket
(sock_diag); the suite reads the sum over the whole stack (/proc/net/sockstat).
"""

import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from stackcost.analysis.memory.memory import HOLD, Line, fit, held_flows, lines
from stackcost.analysis.memory.memory_total import KERNEL_STACK
from stackcost.analysis.readings import Readings
from stackcost.collect.slab import merged_caches
from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import HeldFlows
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.contracts.trial import Trial
from stackcost.host.namespace import end_group, execute, run
from stackcost.runs.loads.held import Holds
from stackcost.runs.turn import PlannedTrial, PlannedTrials, Purpose
from stackcost.session.profile_session import ProfileSession

from .calibration_server import CalibrationServer
from .row import Row, row

OBSERVE = """
import os, sys, time
for turn in range(1000):
    for process in sys.argv[1:]:
        try:
            for name in os.listdir(f"/proc/{process}/fd"):
                os.readlink(f"/proc/{process}/fd/{name}")
        except FileNotFoundError:
            pass
    for name in range(1000):
        os.path.exists(f"/tmp/no-such-file-{os.getpid()}-{turn}-{name}")
    open(f"/proc/{sys.argv[1]}/net/tcp").read()
    time.sleep(0.05)
"""


@contextmanager
def second_observer(
    namespace: str, cpus: Collection[int], processes: Sequence[int]
) -> Iterator[None]:
    """It observes `processes` inside, on `cpus`, some times a second.

    It does what lsof, a monitoring agent or a shell user does. Each leaves objects in the kernel: a
    dentry and an inode for each descriptor of the server, and a dentry for each name that was
    looked up.
    """
    observer = run(
        namespace,
        [sys.executable, "-S", "-c", OBSERVE, *map(str, processes)],
        cpus,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        end_group(observer)


HOLD_BYTES = 8192
UNREAD_BYTES = 20_000
OBSERVED = "a second observer reads the server's descriptors and other files: memory per flow"
CHARGED = Metric("known.socket_memory", "B", Kind.GAUGE, "ss --memory: r, f, w of skmem")
SKMEM = re.compile(r"skmem:\(r(\d+),rb\d+,t\d+,tb\d+,f(\d+),w(\d+)")


class ChargedSockets(Collector):
    """Reads the memory that the kernel charges each established socket of a namespace."""

    name = "charged sockets"
    metrics = (CHARGED,)

    def __init__(self, namespace: str):
        self._namespace = namespace

    def read(self) -> list[Sample]:
        """The sum over all sockets."""
        now = time.monotonic()
        said = execute(self._namespace, ["ss", "-tnmH", "state", "established"])
        whole = sum(sum(map(int, parts)) for parts in SKMEM.findall(said))
        return [CHARGED.sample(now, whole)]


def known_memory_steps(
    session: ProfileSession, server: CalibrationServer, rounds: int, quick: bool = False
) -> PlannedTrials[list[Row]]:
    """Rows over `rounds` rounds: the server's own memory, socket buffers, a second observer, which
    `quick` leaves out.
    """
    plain_experiment = session.experiment
    workload = plain_experiment.workload.model_copy(update={"request_bytes": UNREAD_BYTES})
    unread_experiment = plain_experiment.model_copy(update={"workload": workload})
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(rounds):
        server.hold(0)
        plain, plain_charged = yield from _slopes(session, server)
        if not quick:
            with second_observer(
                session.bed.load_namespace, session.bed.cpus.load, [*server.processes().values()]
            ):
                observed, _ = yield from _slopes(session, server)
            pairs[OBSERVED].append((_kernel_stack(plain), _kernel_stack(observed)))
        server.hold(HOLD_BYTES, leave_unread=True)
        session.experiment = unread_experiment
        try:
            full, full_charged = yield from _slopes(session, server)
        finally:
            session.experiment = plain_experiment
        name = f"{HOLD_BYTES:,} bytes that the server allocates per flow: process"
        pairs[name].append((HOLD_BYTES, full["process"].slope - plain["process"].slope))
        name = f"{UNREAD_BYTES:,} bytes left unread per flow, as charged: socket buffers"
        readings = full["socket buffers"].slope - plain["socket buffers"].slope
        pairs[name].append((full_charged - plain_charged, readings))
    server.hold(0)
    return [row(name, "B per flow", *zip(*values, strict=True)) for name, values in pairs.items()]


def _slopes(
    session: ProfileSession, server: CalibrationServer
) -> PlannedTrials[tuple[dict[str, Line], float]]:
    """The suite's slopes over all numbers of flows, and the slope of the charged socket memory."""
    holds = []
    for count in session.experiment.memory.in_order("established"):
        load = HeldFlows(open_flows=count)
        (trial,) = yield PlannedTrial(
            trial=Trial(server.name, 0, 1, load, session.response_bytes),
            make=partial(Holds(session.experiment).offer, session),
            words=f"{count:,} flows held open",
            purpose=Purpose(),
        )
        if trial.set_aside:
            raise StackcostError(trial.set_aside)
        holds.append(Readings(trial))
    charged = fit(
        [(held_flows(readings), readings.at(HOLD).level(CHARGED) or 0.0) for readings in holds]
    )
    assert charged is not None, "a slope needs two counts of flows"
    return lines(holds, merged_caches()), charged.slope


def _kernel_stack(found: Mapping[str, Line]) -> float:
    """Bytes per flow in all."""
    return sum(found[kind].slope for kind in KERNEL_STACK)
