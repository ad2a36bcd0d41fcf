"""The server's own count of requests, read like any counter."""

import time
from collections.abc import Callable

from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import SERVER_REQUESTS
from stackcost.contracts.sample import Sample


class Served(Collector):
    """Reads the count. `count`: requests since start; None if the server reports none."""

    name = "served"
    metrics = (SERVER_REQUESTS,)

    def __init__(self, count: Callable[[], int | None]):
        self._count = count

    def read(self) -> list[Sample]:
        """The count now; the moment is the middle of asking."""
        before = time.monotonic()
        count = self._count()
        now = (before + time.monotonic()) / 2
        if count is None:
            return [
                SERVER_REQUESTS.unknown(
                    now, "this server does not count requests, or does not report the count"
                )
            ]
        return [SERVER_REQUESTS.sample(now, count)]
