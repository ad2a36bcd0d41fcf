"""What a connection takes of each of two engines at an equal load, by their own accounts."""

import time
from dataclasses import dataclass
from operator import sub

from stackcost.contracts.errors import StackcostError
from tools.ceiling import KEPT, Pair
from tools.engine import MEASURE_S, WARM_UP_S, Driven, check_no_failure, load, serving


@dataclass(frozen=True, slots=True)
class Busy:
    """Microseconds of a connection at one end, in passes of its loop that did work.

    `stack`: without the calls that hand frames to the device and without copies of payload.
    """

    whole: float
    stack: float


def busy_at(pair: Pair, offered: float) -> tuple[Busy, Busy]:
    """Of the client and of the server at `offered` connections/s of the profile loaded now.

    StackcostError when a flow failed or the load was not held.
    """
    what = f"{offered:,.0f} connections/s"
    load(pair.client, pair.profile, pair.tunables)
    with serving(pair.server, pair.profile, pair.tunables):
        pair.client.client.start(offered, duration=60)
        try:
            time.sleep(WARM_UP_S)
            since, before = time.monotonic(), [_accounts(end) for end in (pair.client, pair.server)]
            opened = _closed(pair)
            time.sleep(MEASURE_S)
            after = [_accounts(end) for end in (pair.client, pair.server)]
            closed, passed = _closed(pair) - opened, time.monotonic() - since
            check_no_failure(pair.client.client, what)
        finally:
            pair.client.client.stop()
    if closed < KEPT * offered * passed:
        raise StackcostError(f"{what}: {closed / passed:,.0f} were completed")
    client, server = (
        Busy(*(1e6 * each / closed for each in map(sub, late, early)))
        for early, late in zip(before, after, strict=True)
    )
    return client, server


def _accounts(engine: Driven) -> tuple[float, float]:
    """Seconds that its data cores were busy so far, and those of the stack (docs/method.md)."""
    answer = engine.client.call("stackcost_get_cpu", {})
    busy = sum(core["busy_cycles"] for core in answer["cores"])
    beside = sum(core["sending_cycles"] + core["copying_cycles"] for core in answer["cores"])
    return busy / answer["tsc_hz"], (busy - beside) / answer["tsc_hz"]


def _closed(pair: Pair) -> float:
    return float(pair.client.client.stats()["traffic"]["client"]["tcps_closed"])
