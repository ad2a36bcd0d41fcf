"""Waiting for what comes about by itself, within a limit: the one loop for it."""

import time
from collections.abc import Callable

POLL_S = 0.02


def wait_until(there: Callable[[], object], limit_s: float, poll_s: float = POLL_S) -> bool:
    """Ask until `there` is true: whether it was so within `limit_s` seconds.

    It is asked at least once, and a last time when the limit is over.
    """
    deadline = time.monotonic() + limit_s
    while not there():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(poll_s, left))
    return True
