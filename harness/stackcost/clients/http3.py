"""The suite's own client of HTTP/3, on aioquic: no package has a client for load that speaks it.

With a rate it is an open loop: request k is due k / rate after the first, and its time is measured
from there. It runs in Python, so a core opens some tens of connections per second.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np

from stackcost.clients.program import (
    CONNECTION,
    INTENDED,
    REQUEST,
    LoadProgram,
    LoadRequest,
    LoadResult,
)
from stackcost.clients.times import Times, whole_numbers

SCRIPT = Path(__file__).with_name("http3_client.py")
LOG = "requests.tsv"
BROKEN = -1  # as a status: the connection ended before the response did
MISSING = (
    "a client of HTTP/3 is not installed (the Python package aioquic); "
    "pip install 'stackcost[http3]'"
)


class Http3Client(LoadProgram):
    """One process with one event loop."""

    name = "h3client"
    latency = (
        "with a rate: from the intended start; without: from sending the request, or from opening "
        "the connection if it is new"
    )
    versions = ("3",)
    rates = True

    @property
    def program(self) -> str:
        """Python."""
        return sys.executable

    def lacks(self) -> str:
        """Its package, which is in an extra."""
        return "" if importlib.util.find_spec("aioquic") else MISSING

    def command(self, request: LoadRequest, folder: Path) -> list[str]:
        """The script with all that it needs to know."""
        rate = [] if request.rate is None else ["--rate", f"{request.rate:.6f}"]
        return [
            *(sys.executable, str(SCRIPT), request.url, *request.paths),
            *("--connections", str(request.connections), "--seconds", str(request.seconds)),
            *("--streams", str(request.streams), "--log", str(folder / LOG), *rate),
            *(["--kept"] if request.kept else []),
        ]

    def read(self, request: LoadRequest, folder: Path, printed: str) -> LoadResult:
        """Its log: of each request due, sent and answered (us from the start), status, bytes.

        The second is -1 if it was not sent, the third if it was not answered. What is under way at
        the end is cut, as with every client.
        """
        log = whole_numbers(folder / LOG, 5)
        due, sent, answered, status, received = log.T
        good = (answered >= 0) & (status >= 200) & (status < 300)
        end = request.seconds * 1_000_000
        begun = due if request.rate is not None else sent
        after = begun >= request.warm_up_s * 1e6
        times = {}
        if request.rate is not None:
            ends = np.where(good, answered, end)
            times[INTENDED] = Times.of(np.maximum(0, ends - due)[after])
        elif good.any():
            kind = REQUEST if request.kept else CONNECTION
            times[kind] = Times.of((answered - sent)[good & after])
        failed = {
            "status": int(((answered >= 0) & ~good).sum()),
            "connection": int((status == BROKEN).sum()),
        }
        return LoadResult(
            seconds=float(request.seconds),
            requests=int(good.sum()),
            received=int(received[good].sum()),
            failed={cause: number for cause, number in failed.items() if number},
            times=times,
            unsent=int((sent < 0).sum()),
        )
