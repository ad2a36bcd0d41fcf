"""Connections held open, and the memory they take."""

from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until
from tools.engine import PROFILES, Driven, check_no_failure

TIMEOUT_S = 60.0  # beyond the time the schedule needs, on a busy machine
POLL_S = 0.2


def hold(engine: Driven, flows: int, rate: int) -> None:
    """Open `flows` connections, `rate` a second, and return when all are open and answered.

    StackcostError when one failed or not all were open in time. Stop the client to end them.
    """
    longest = flows / rate + TIMEOUT_S
    engine.client.load_profile(
        PROFILES / "http_hold.py",
        {"flows": flows, "cps": rate, "hold_seconds": 2 * longest, "response_bytes": 100},
    )
    engine.client.start(1)
    if not wait_until(lambda: answered(engine) >= flows, longest, POLL_S):
        raise StackcostError(f"{answered(engine):,} of {flows:,} flows open after {longest:g} s")
    check_no_failure(engine.client, f"{flows:,} flows held")


def answered(engine: Driven) -> int:
    """Connections whose response came in whole."""
    client = engine.client.stats()["traffic"]["client"]
    return int(client["tcps_rcvbyte"]) // 100
