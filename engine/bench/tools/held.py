"""Connections held open, and the memory they take."""

from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until
from tools.engine import Driven, check_no_failure, load

TIMEOUT_S = 60.0  # beyond the time the schedule needs, on a busy machine
POLL_S = 0.2


def hold(engine: Driven, flows: int, rate: int, tls: dict[str, Any] | None = None) -> None:
    """Open `flows` connections, `rate` a second, and return when all are open and answered.

    `tls`: as for load. StackcostError when one failed or not all were open in time. Stop the
    client to end them.
    """
    longest = flows / rate + TIMEOUT_S
    tunables = {"flows": flows, "cps": rate, "hold_seconds": 2 * longest, "response_bytes": 100}
    load(engine, "http_hold.py", tunables, tls)
    engine.client.start(1)
    count = answered if tls is None else answered_over_tls
    if not wait_until(lambda: count(engine) >= flows, longest, POLL_S):
        raise StackcostError(f"{count(engine):,} of {flows:,} flows open after {longest:g} s")
    check_no_failure(engine.client, f"{flows:,} flows held")


def answered(engine: Driven) -> int:
    """Connections whose response came in whole."""
    client = engine.client.stats()["traffic"]["client"]
    return int(client["tcps_rcvbyte"]) // 100


def answered_over_tls(engine: Driven) -> int:
    """The same of connections with TLS, whose bytes TCP counts encrypted."""
    return received_over_tls(engine) // 100


def received_over_tls(engine: Driven) -> int:
    """Bytes of payload that the clients of the only template got so far."""
    (template,) = engine.client.call("stackcost_get_tls", {"profile_id": "_"})["templates"]
    return int(template["client"]["received_bytes"])
