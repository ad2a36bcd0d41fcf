"""Load generators on the kernel's stack, a new connection for each request, and what they tell."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.errors import StackcostError
from harness.testbed.local import LocalTestbed

MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}
TIME = r"([\d.]+)(us|ms|s)"
RATE_PERIOD_MS = 1  # h2load opens its connections in bursts, one each period
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class WrkResult:
    """wrk: requests per second, and us from writing a request to its last byte."""

    rate: float
    p50: float
    p99: float
    highest: float


@dataclass(frozen=True, slots=True)
class H2loadResult:
    """h2load: mean us from a connection's start; us of each request from its sending."""

    connect_mean: float
    first_byte_mean: float
    requests: np.ndarray


def wrk(bed: LocalTestbed, url: str, connections: int, seconds: int) -> WrkResult:
    """Closed loop: each of `connections` asks again, on a new one, once it has been answered."""
    options = ["-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-H", "Connection: close"]
    told = _run(bed, ["wrk", *options, url])
    rate = _find(r"Requests/sec:\s+([\d.]+)", told)
    highest = _find(rf"Latency\s+{TIME}\s+{TIME}\s+{TIME}", told)
    percentiles = dict(
        (percent, _us(value, unit))
        for percent, value, unit in re.findall(rf"^\s+(\d+)%\s+{TIME}$", told, re.MULTILINE)
    )
    return WrkResult(
        float(rate[1]), percentiles["50"], percentiles["99"], _us(highest[5], highest[6])
    )


def h2load(bed: LocalTestbed, url: str, rate: int, seconds: int) -> H2loadResult:
    """Open loop: `rate` connections per second, a multiple of 1,000, each with one request."""
    count = rate * seconds
    each = rate * RATE_PERIOD_MS // 1000
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "requests")
        options = ["--h1", f"-n{count}", f"-c{count}", f"-r{each}", f"--log-file={log}"]
        told = _run(bed, ["h2load", *options, f"--rate-period={RATE_PERIOD_MS}ms", url])
        requests = np.loadtxt(log, usecols=(1, 2))
    if not (requests[:, 0] == 200).all():
        raise StackcostError(f"h2load: some of {count} requests failed: {told[-500:]}")
    connect = _find(rf"time for connect:\s+{TIME}\s+{TIME}\s+{TIME}", told)
    first = _find(rf"time to 1st byte:\s+{TIME}\s+{TIME}\s+{TIME}", told)
    return H2loadResult(_us(connect[5], connect[6]), _us(first[5], first[6]), requests[:, 1])


def _run(bed: LocalTestbed, command: list[str]) -> str:
    try:
        program = bed.run(
            bed.load_namespace,
            command,
            bed.cpus.load,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    except FileNotFoundError:
        raise StackcostError(f"{command[0]} is not installed", "script/bootstrap") from None
    try:
        told, _ = program.communicate(timeout=PATIENCE_S)
    except BaseException:
        program.kill()
        raise
    if program.returncode:
        raise StackcostError(f"{command[0]} ended with {program.returncode}: {told[-500:]}")
    return str(told)


def _find(pattern: str, told: str) -> re.Match[str]:
    found = re.search(pattern, told)
    if not found:
        raise StackcostError(f"{pattern!r} is not in what the program printed: {told[-1000:]}")
    return found


def _us(value: str, unit: str) -> float:
    return float(value) * MICROSECONDS[unit]
