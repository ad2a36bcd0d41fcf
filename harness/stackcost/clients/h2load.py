"""h2load over HTTP/1.1 and HTTP/2: the client that can send at a constant rate (open loop).

At a rate, every request has an intended start: the k-th one is k / rate after the first. Its time
is measured from there to its last byte, so waiting for a free connection or for a handshake is
included. A request that was scheduled but never sent or answered counts until the end. h2load's
connections send at the same moments, in bursts: a request that was sent before its evenly spaced
start is measured from the moment of sending. Without a rate h2load is a closed loop, and times
begin with sending the request.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stackcost.clients.program import (
    INTENDED,
    REQUEST,
    LoadProgram,
    LoadRequest,
    LoadResult,
    required,
)
from stackcost.clients.times import Times, whole_numbers

LOG = "requests.tsv"
EVENTS = CONNECTED, FIRST_BYTE = "connect", "1st byte"
COLUMN = re.compile(r"([\d.]+)(us|ms|s)\b")
MEAN = 2
MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}
LONGEST_PERIOD_MS = 100
EXACT = 0.002  # largest relative difference between the wanted and the real rate
TRAFFIC = re.compile(r"traffic: \S+ \((\d+)\) total")
STATUS = re.compile(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx")
FAILED = re.compile(r"requests: .* (\d+) failed, (\d+) errored, (\d+) timeout")


class H2load(LoadProgram):
    """h2load with one thread. At a rate without keep-alive it opens a connection per request."""

    name = "h2load"
    versions = ("1.1", "2")
    rates = True
    latency = (
        "with a rate: from the intended start; without: from sending the request; all connections "
        "send at the same moment, so at a low rate a time is that of a burst of requests"
    )

    def command(self, request: LoadRequest, folder: Path) -> list[str]:
        """One URL for each path; connections request them in turn."""
        urls = [request.url + path for path in request.paths]
        version = ["--h1"] if request.version == "1.1" else [f"-m{request.streams}"]
        common = ["h2load", *version, "-t1", f"--log-file={folder / LOG}"]
        if request.kept:
            each = None if request.rate is None else request.rate / request.connections
            rate = [] if each is None else [f"--rps={each:.6f}"]
            return [*common, f"-c{request.connections}", f"-D{request.seconds}", *rate, *urls]
        if request.rate is None:
            raise ValueError("h2load without a rate keeps its connections open: use wrk or ab")
        each, period_ms = _burst(request.rate)
        count = round(request.rate * request.seconds)
        period = f"--rate-period={period_ms}ms"
        return [*common, f"-n{count}", f"-c{count}", f"-r{each}", period, *urls]

    def read(self, request: LoadRequest, folder: Path, printed: str) -> LoadResult:
        """Counts from its output, times from its log: start in us, status, duration in us."""
        traffic, status = required(TRAFFIC, printed), required(STATUS, printed)
        log = whole_numbers(folder / LOG, 3)
        log = log[np.argsort(log[:, 0], kind="stable")]
        start, _, took = log[(log[:, 1] >= 200) & (log[:, 1] <= 299)].T
        failed = _failed(printed, [int(status[at]) for at in (2, 3, 4)])
        times, unsent = _times(start, took, request)
        seconds = float((start + took).max() - start[0]) / 1e6 if len(start) else 0.0
        return LoadResult(
            seconds=max(seconds, float(request.seconds)),
            requests=int(status[1]),
            received=int(traffic[1]),
            failed={cause: number for cause, number in failed.items() if number},
            times=times,
            unsent=unsent,
            means=_means(printed),
        )


def _burst(rate: float) -> tuple[int, int]:
    """The size and the period (whole ms) of the bursts in which h2load opens connections.

    It is the shortest period whose rate is close enough to the wanted rate.
    """
    for period_ms in range(1, LONGEST_PERIOD_MS):
        each = round(rate * period_ms / 1000)
        if each and abs(each * 1000 / period_ms / rate - 1) <= EXACT:
            return each, period_ms
    return max(1, round(rate * LONGEST_PERIOD_MS / 1000)), LONGEST_PERIOD_MS


def _times(
    start: np.ndarray, took: np.ndarray, request: LoadRequest
) -> tuple[dict[str, Times], int]:
    """Times after the warm-up, and the number of scheduled requests without an answer."""
    if not len(start):
        return {}, round((request.rate or 0) * request.seconds)
    since = start - start[0]
    warm_us, end_us = request.warm_up_s * 1e6, request.seconds * 1e6
    told = {REQUEST: Times.of(took[since >= warm_us])}
    if request.rate is None:
        return told, 0
    due = max(len(start), round(request.rate * request.seconds))
    intended = np.arange(due) / request.rate * 1e6
    late = np.maximum(0, since - intended[: len(since)])
    never = np.maximum(0, end_us - intended[len(since) :])
    waited = np.concatenate([late + took, never])
    told[INTENDED] = Times.of(waited[intended >= warm_us])
    return told, len(never)


def _means(printed: str) -> dict[str, float]:
    """The times of connections that it prints: the third of four columns, each with its unit."""
    found = ((name, re.search(rf"time (?:for|to) {name}: .*", printed)) for name in EVENTS)
    columns = {name: COLUMN.findall(match[0]) for name, match in found if match}
    return {
        name: float(row[MEAN][0]) * MICROSECONDS[row[MEAN][1]]
        for name, row in columns.items()
        if len(row) > MEAN
    }


def _failed(printed: str, statuses: Sequence[int]) -> dict[str, int]:
    """Requests by what they failed of. `statuses`: how many were answered with 3xx, 4xx and 5xx.

    What it calls failed has those with errors, those that timed out, and those of 4xx and 5xx.
    """
    found = {"status": sum(statuses)}
    if match := FAILED.search(printed):
        failed, errored, timeout = (int(match[at]) for at in (1, 2, 3))
        others = errored + timeout + sum(statuses[1:])
        found |= {"failed": max(0, failed - others), "errored": errored, "timeout": timeout}
    return found
