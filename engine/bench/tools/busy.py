"""What a connection takes of each of two engines at an equal load, by their own accounts."""

import time
from typing import NamedTuple

from stackcost.contracts.errors import StackcostError
from tools.ceiling import KEPT, Pair
from tools.engine import MEASURE_S, Driven, at_load, load, read, serving


class Busy(NamedTuple):
    """Time in passes of an engine's loop that did work, in seconds or in microseconds.

    `stack`: without the calls that hand frames to the device and without copies of payload.
    """

    whole: float
    stack: float


def busy_seconds(engine: Driven) -> Busy:
    """Of all data cores so far (RPC stackcost_get_cpu)."""
    answer = engine.client.call("stackcost_get_cpu", {})
    whole = sum(core["busy_cycles"] for core in answer["cores"])
    beside = sum(core["sending_cycles"] + core["copying_cycles"] for core in answer["cores"])
    return Busy(whole / answer["tsc_hz"], (whole - beside) / answer["tsc_hz"])


def busy_at(pair: Pair, offered: float) -> tuple[Busy, Busy]:
    """Microseconds of a connection at the client and at the server, at `offered` connections/s.

    StackcostError when a flow failed or the load was not held.
    """
    what, ends = f"{offered:,.0f} connections/s", (pair.client, pair.server)
    load(pair.client, pair.profile, pair.tunables)
    with serving(pair.server, pair.profile, pair.tunables), at_load(pair.client, offered, what):
        since = time.monotonic()
        before, opened = [busy_seconds(end) for end in ends], read(pair.client)[0]
        time.sleep(MEASURE_S)
        after = [busy_seconds(end) for end in ends]
        closed, passed = read(pair.client)[0] - opened, time.monotonic() - since
    if closed < KEPT * offered * passed:
        raise StackcostError(f"{what}: {closed / passed:,.0f} were completed")
    client, server = (
        Busy(*(1e6 * (late - early) / closed for early, late in zip(*end, strict=True)))
        for end in zip(before, after, strict=True)
    )
    return client, server
