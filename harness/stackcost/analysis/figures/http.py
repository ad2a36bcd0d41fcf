"""Figures of tests by HTTP clients: what they asked for and got, and what it took."""

from collections.abc import Callable
from typing import Literal

from stackcost.analysis.cost import http
from stackcost.analysis.cost.core_time import foreign_share
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import LoadTrials, Read
from stackcost.analysis.memory.memory import connection_slab
from stackcost.contracts.metrics import PROCESS_PSS

UDP_CACHES = ("UDP", "PINGv6")  # of HTTP/3; the kernel may merge the two (net/ipv6/ping.c)
CLIENTS = "the clients' own output"


def _asked(read: Read) -> Callable[[LoadTrials], Values | None]:
    """One value of each trial of clients that told their settings; else the figure is absent."""

    def compute(loads: LoadTrials) -> Values | None:
        return loads.each(read) if loads.is_http else None

    return compute


def _sum(
    name: Literal["rate", "bits_per_second", "unsent"],
) -> Callable[[LoadTrials], Values | None]:
    return _asked(lambda readings: http.sum_over_clients(readings.trial, name))


def _slab(loads: LoadTrials) -> Values:
    merged = loads.context.merged_caches
    return loads.each(lambda readings: connection_slab(readings, merged, UDP_CACHES))


CONCURRENCY = Figure[LoadTrials](
    name="http.concurrency",
    unit="1",
    definition="connections of all clients at once; after a search it may differ from round to "
    "round",
    source="the settings of the clients in each trial",
    of="http",
    compute=_asked(lambda readings: http.concurrency(readings.trial)),
)
RATE = Figure[LoadTrials](
    name="http.rate",
    unit="1/s",
    definition="requests answered per second, all clients; in tests of new connections so many "
    "connections",
    source=CLIENTS,
    of="http",
    judged=True,
    compute=_sum("rate"),
)
BANDWIDTH = Figure[LoadTrials](
    name="http.bandwidth",
    unit="bit/s",
    definition="what the clients received per second, headers included",
    source=CLIENTS,
    of="http",
    compute=_sum("bits_per_second"),
)
UNSENT = Figure[LoadTrials](
    name="http.unsent",
    unit="1",
    definition="scheduled requests without an answer at the end of the trial",
    source=CLIENTS,
    of="http",
    compute=_sum("unsent"),
)
CLIENTS_BUSY = Figure[LoadTrials](
    name="http.clients_busy",
    unit="1",
    definition="share of the time of the clients' cores that was not idle",
    source="cpu.exact_time",
    of="http",
    compute=lambda loads: (
        loads.each(lambda readings: http.busy_share(readings.on(loads.load_cpus)))
        if loads.is_http
        else None
    ),
)
SERVER_BUSY = Figure[LoadTrials](
    name="http.server_busy",
    unit="1",
    definition="share of the time of the server's cores that was not idle",
    source="cpu.exact_time",
    of="http",
    compute=lambda loads: loads.each(http.busy_share) if loads.is_http else None,
)
OTHERS_BUSY = Figure[LoadTrials](
    name="http.others_busy",
    unit="1",
    definition="share of the time of the server's cores that other programs took; also in "
    "http.server_busy",
    source="task.time",
    of="http",
    compute=lambda loads: loads.each(foreign_share) if loads.is_http else None,
)
PROCESS_MEMORY = Figure[LoadTrials](
    name="process_memory",
    unit="B",
    definition="memory of the server's processes during the test",
    source="/proc/PID/smaps_rollup Pss",
    of="http",
    compute=lambda loads: loads.each(lambda readings: readings.level(PROCESS_PSS)),
)
CONNECTION_SLAB = Figure[LoadTrials](
    name="connection_slab",
    unit="B",
    definition="slab caches of connections, both ends, during the test",
    source="/proc/slabinfo",
    of="http",
    compute=_slab,
)
