"""How long the engine takes to answer a frame, as a server at half of its ceiling over a veth."""

from contextlib import ExitStack
from ipaddress import IPv4Network
from typing import Any

import numpy as np
from tools.answers import answers
from tools.ceiling import DEFINITION, Pair
from tools.engine import RPC_PORTS, Driven, driven, load, serving
from tools.figures import Figure, Measured, number, report, say

from stackcost.bed.local import LocalTestbed
from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.host.namespace import spawner
from stackcost.trex.process import Spawn
from stackcost.trex.trex_config import TrexConfig

PROFILE = "http_program.py"
TUNABLES = {"response_bytes": 100}
MOST_CPS = 200_000.0  # more than two ends of a veth pass on
SECONDS = 6
WATCHED = IPv4Network("16.0.0.0/26")  # of 200 clients
PERCENTILES = (50.0, 99.0, 99.9)
FEWEST = 10_000  # answers, for a p99.9


def run(trials: int) -> dict[str, Any]:
    """The ceiling is found once; every trial has connections of its own."""
    what = "from a SYN's or request's arrival at the server's interface to its answer's arrival"
    ceiling = Measured(
        Figure("ceiling", "connections/s", f"100-byte responses, one core each; {DEFINITION}")
    )
    delays = [
        Measured(Figure(f"answer, p{percentile:g}", "us", f"{what} at the client's"))
        for percentile in PERCENTILES
    ]
    with LocalTestbed() as bed, ExitStack() as stack:
        server, client = (stack.enter_context(driven(*end)) for end in ends_of(bed))
        seen = Pair(client, server, PROFILE, TUNABLES).highest(MOST_CPS)
        ceiling.add(seen.connections)
        rate = seen.connections / 2
        for trial in range(trials):
            with serving(server, PROFILE, TUNABLES):
                values = percentiles(bed, client, rate)
            for one, value in zip(delays, values, strict=True):
                one.add(value)
            said = ", ".join(number(value) for value in values)
            say(trial, trials, f"at {number(rate)} connections/s {said} us")
    return {"offered_cps": rate} | report([ceiling, *delays])


def ends_of(bed: LocalTestbed) -> list[tuple[TrexConfig, Spawn]]:
    """Server and client, each on its own core and its own end of the veth."""
    away = Port("dummy")
    server = Port(f"packet:{bed.server_interface}", SERVER_ADDRESS, LOAD_ADDRESS)
    client = Port(f"packet:{bed.load_interface}", LOAD_ADDRESS, SERVER_ADDRESS)
    rpc, publish = RPC_PORTS
    return [
        (
            TrexConfig("bench-server", [away, server], bed.cpus.server, rpc + 10, publish + 10),
            spawner(bed.server_namespace, bed.cpus.server),
        ),
        (
            TrexConfig("bench-client", [client, away], bed.cpus.load, rpc, publish),
            spawner(bed.load_namespace, bed.cpus.load),
        ),
    ]


def percentiles(bed: LocalTestbed, client: Driven, rate: float) -> list[float]:
    """Microseconds a server takes to answer at a rate, by PERCENTILES."""
    load(client, PROFILE, TUNABLES)
    times = answer_times(bed, client, rate, SECONDS)
    if len(times) < FEWEST:
        raise StackcostError(f"{len(times)} answers were seen, {FEWEST} are needed")
    return [float(value) * 1e6 for value in np.percentile(times, PERCENTILES)]


def answer_times(bed: LocalTestbed, client: Driven, rate: float, seconds: float) -> list[float]:
    """Seconds to each answer that was watched, of the profile that the client has loaded."""
    server_end = bed.server_namespace, bed.server_interface
    client_end = bed.load_namespace, bed.load_interface
    with answers(server_end, client_end, WATCHED) as watch:
        client.client.start(rate, duration=seconds)
        client.client.wait_on_traffic(seconds + 10)
        return watch.delays()
