"""ApacheBench: a closed loop over HTTP/1.0, which older publications use.

Its times begin with opening the connection, which is new for each request without keep-alive. It
writes them as a table of percentiles, so above the 99th only the longest time is known. Its list of
all requests has whole milliseconds; of these are the times to connect and to the first byte.
"""

import re
from pathlib import Path

import numpy as np

from stackcost.clients.program import (
    CONNECT,
    CONNECTION,
    DELAY,
    LoadProgram,
    LoadRequest,
    LoadResult,
    required,
)
from stackcost.clients.times import Times

PERCENTILES, REQUESTS = "percentiles.csv", "requests.tsv"
COLUMNS = {CONNECT: "ctime", DELAY: "wait"}  # of the list of requests, ms
MOST_PER_SECOND = 200_000  # ab needs a number of requests and allocates memory for each
COMPLETE = re.compile(r"Complete requests:\s+(\d+)")
TAKEN = re.compile(r"Time taken for tests:\s+([\d.]+) seconds")
TRANSFERRED = re.compile(r"Total transferred:\s+(\d+) bytes")
CAUSES = ("Connect", "Receive", "Length", "Exceptions")


class ApacheBench(LoadProgram):
    """ab, with the option to continue when a connection fails."""

    name = "ab"
    latency = "from opening the connection; closed loop; only whole percentiles are known"

    def command(self, request: LoadRequest, folder: Path) -> list[str]:
        """-n must be after -t, because -t sets it to 50,000."""
        kept = ["-k"] if request.kept else []
        return [
            *("ab", "-q", "-r", "-d", "-S", "-s", "10", *kept, "-c", str(request.connections)),
            *("-t", str(request.seconds), "-n", str(request.seconds * MOST_PER_SECOND)),
            *("-e", str(folder / PERCENTILES), "-g", str(folder / REQUESTS)),
            request.url + request.paths[0],
        ]

    def read(self, request: LoadRequest, folder: Path, printed: str) -> LoadResult:
        """Counts from its output, times from its file."""
        requests = int(required(COMPLETE, printed)[1])
        failed = _failed(printed)
        times = _read_percentiles(folder / PERCENTILES, requests)
        return LoadResult(
            seconds=float(required(TAKEN, printed)[1]),
            requests=max(0, requests - sum(failed.values())),
            received=int(required(TRANSFERRED, printed)[1]),
            failed=failed,
            times={CONNECTION: times, **_read_parts(folder / REQUESTS)} if times else {},
        )


def _failed(printed: str) -> dict[str, int]:
    causes = {
        cause.lower(): int(match[1])
        for cause in CAUSES
        if (match := re.search(rf"\b{cause}: (\d+)", printed)) and int(match[1])
    }
    if match := re.search(r"Non-2xx responses:\s+(\d+)", printed):
        causes["status"] = int(match[1])
    return causes


def _read_percentiles(path: Path, requests: int) -> Times | None:
    """The value at each percentile counts for 1 % of the requests, that at 100 for the last one."""
    if not path.is_file():
        return None  # nothing was answered
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    if not len(rows) or not requests:
        return None
    edges = np.minimum(np.round(rows[:, 0] / 100 * requests), requests - 1)
    edges[rows[:, 0] >= 100] = requests
    counts = np.diff(edges, prepend=0).astype(np.int64)
    return Times(rows[:, 1] * 1000, np.maximum(counts, 0))


def _read_parts(path: Path) -> dict[str, Times]:
    """The times to connect and to the first byte of every request."""
    if not path.is_file():
        return {}
    with path.open() as file:
        names = file.readline().rstrip("\n").split("\t")
        wanted = [names.index(name) for name in COLUMNS.values()]
        rows = np.loadtxt(file, delimiter="\t", usecols=wanted, ndmin=2)
    return {kind: Times.of(rows[:, at] * 1000.0) for at, kind in enumerate(COLUMNS)}
