"""Waits for a condition within a time limit."""

import time
from collections.abc import Callable

POLL_S = 0.02


def wait_until(there: Callable[[], object], limit_s: float, poll_s: float = POLL_S) -> bool:
    """Call `there` until it is true; returns whether it was true within `limit_s` seconds.

    It is called at least once, and a last time at the end of the limit.
    """
    deadline = time.monotonic() + limit_s
    while not there():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(poll_s, left))
    return True
