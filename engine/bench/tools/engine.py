"""The engine as a whole process, driven by the real TRex client as a user would."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.files import PROFILES
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.process import Spawn, spawn_here
from stackcost.trex.trex_config import TrexConfig

RPC_PORTS = (14501, 14500)  # apart from a generator that may be in use beside

OVERLOAD_CPS = 4_000_000  # offered: more than a core can open, so it opens as fast as it can
WARM_UP_S = 1.0
MEASURE_S = 2.0
NO_FAILURE = ("tcps_drops", "tcps_conndrops", "tcps_sndrexmitpack", "tcps_rexmttimeo")


@dataclass(frozen=True, slots=True)
class Driven:
    """A running engine and the client that owns its ports."""

    client: TrexClient
    process_id: int


@contextmanager
def driven(config: TrexConfig, spawn: Spawn = spawn_here) -> Iterator[Driven]:
    """Start an engine and a client of it, in the namespace `spawn` starts programs in."""
    with (
        tempfile.TemporaryDirectory() as folder,
        AstfServer(config, Path(folder), spawn) as generator,
        TrexClient(spawn, rpc_port=config.rpc_port, async_port=config.async_port) as client,
    ):
        client.connect()
        client.reset()
        yield Driven(client, generator.process_id)


@dataclass(frozen=True, slots=True)
class Rates:
    """What passed in a second of a window, by this engine's counters."""

    connections: float  # completed, by the client side
    frames: float  # sent by all ports
    bytes: float  # sent by all ports, without FCS
    core_share: float  # CPU time of the data threads over the window's length; 1 is one core


def rates(engine: Driven, seconds: float) -> Rates:
    """Rates over a window from now on, between two reads of the counters."""
    before, since = read(engine), time.monotonic()
    time.sleep(seconds)
    after, until = read(engine), time.monotonic()
    return Rates(*((b - a) / (until - since) for a, b in zip(before, after, strict=True)))


def read(engine: Driven) -> tuple[float, float, float, float]:
    """Connections that ended, frames and bytes sent, CPU seconds of the data threads so far."""
    stats = engine.client.stats()
    total = stats["total"]
    closed = stats["traffic"]["client"]["tcps_closed"]
    return closed, total["opackets"], total["obytes"], data_seconds(engine.process_id)


def data_seconds(process_id: int) -> float:
    """CPU time of an engine's data threads (/proc/PID/task/TID/schedstat, exact, in ns)."""
    nanoseconds = 0
    for task in Path(f"/proc/{process_id}/task").iterdir():
        if (task / "comm").read_text().startswith("data-"):
            nanoseconds += int((task / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def resident_bytes(process_id: int) -> int:
    """Memory of a process that is in RAM, huge pages left out (/proc/PID/statm)."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def check_no_failure(client: TrexClient, what: str) -> None:
    """StackcostError when a flow failed or a segment was sent twice: the figure would not count."""
    traffic = client.stats()["traffic"]
    for side in ("client", "server"):
        for counter in NO_FAILURE:
            if traffic[side][counter]:
                raise StackcostError(f"{what}: {side} {counter} is {traffic[side][counter]}")


def saturate(engine: Driven, tunables: dict[str, Any], what: str) -> Rates:
    """Rates with more offered than the core can do, and no failed flow."""
    load(engine, "http_program.py", tunables)
    return rates_at(engine, OVERLOAD_CPS, what)


def load(
    engine: Driven, profile: str, tunables: dict[str, Any], tls: dict[str, Any] | None = None
) -> None:
    """Load a profile of the suite. `tls`: parameters of stackcost_set_tls; None: no TLS."""
    engine.client.load_profile(PROFILES / profile, tunables)
    if tls is not None:
        engine.client.call("stackcost_set_tls", {"profile_id": "_", **tls})


def rates_at(engine: Driven, cps: float, what: str) -> Rates:
    """Rates of the profile loaded at an offered load; StackcostError when a flow failed."""
    with at_load(engine, cps, what):
        return rates(engine, MEASURE_S)


@contextmanager
def at_load(engine: Driven, cps: float, what: str) -> Iterator[None]:
    """Offer the profile loaded, warmed up; StackcostError at the end when a flow failed."""
    engine.client.start(cps, duration=60)
    try:
        time.sleep(WARM_UP_S)
        yield
        check_no_failure(engine.client, what)
    finally:
        engine.client.stop()


@contextmanager
def serving(engine: Driven, profile: str, tunables: dict[str, Any]) -> Iterator[None]:
    """Listen only, for a client elsewhere."""
    load(engine, profile, tunables)
    engine.client.start(1, client_mask=0)
    try:
        yield
    finally:
        engine.client.stop()
