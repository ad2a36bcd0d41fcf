"""wrk: a closed loop, which most publications use.

Its times begin when a request is written, so they do not include the handshakes of a new
connection. If a request takes longer than the average interval between two requests, wrk adds
corrected values (stats_correct in its src/stats.c); this cannot be turned off.
"""

import re
from pathlib import Path

import numpy as np

from stackcost.clients.program import (
    REQUEST,
    LoadProgram,
    LoadRequest,
    LoadResult,
    required,
)
from stackcost.clients.times import Times

SCRIPT = Path(__file__).with_name("wrk.lua")
COUNTS = re.compile(r"^stackcost (\d+) (\d+) (\d+) (.*)$", re.MULTILINE)
TIMES = re.compile(r"^time (\d+) (\d+)$", re.MULTILINE)


class Wrk(LoadProgram):
    """wrk with one thread."""

    name = "wrk"
    latency = "from writing the request; closed loop"
    resumes = True  # SSL_clear keeps the session (ssl_close in its src/ssl.c), and so the ticket

    def command(self, request: LoadRequest, folder: Path) -> list[str]:
        """With a script that prints counts instead of text."""
        close = [] if request.kept else ["-H", "Connection: close"]
        several = [f"STACKCOST_PATHS={' '.join(request.paths)}"] if len(request.paths) > 1 else []
        return [
            *(["env", *several] if several else []),
            *("wrk", "-t1", f"-c{request.connections}", f"-d{request.seconds}s"),
            *("--timeout", "10s"),
            *("-s", str(SCRIPT), *close, request.url + request.paths[0]),
        ]

    def read(self, request: LoadRequest, folder: Path, printed: str) -> LoadResult:
        """Parse its output."""
        counts = required(COUNTS, printed)
        duration, requests, received = (int(counts[at]) for at in (1, 2, 3))
        failed = {cause: int(n) for cause, n in (w.split("=") for w in counts[4].split())}
        rows = np.array(TIMES.findall(printed), dtype=np.int64).reshape(-1, 2)
        return LoadResult(
            seconds=duration / 1e6,
            requests=requests - failed["status"],
            received=received,
            failed={cause: number for cause, number in failed.items() if number},
            times={REQUEST: Times(rows[:, 0], rows[:, 1])},
        )
