"""How fast the engine is, and what a flow costs it: one data core, both sides, in-memory wire.

Run by script/bench. A whole process, driven by the real TRex client as a user would. Several
trials of each figure, in turn, so that what the machine does meanwhile falls on all of them alike.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.load.client import TrexClient
from harness.load.generator import Generator
from harness.load.trex_config import Port, TrexConfig

REPOSITORY = Path(__file__).resolve().parents[2]
PROFILES = REPOSITORY / "trex_profiles"

OVERLOAD_CPS = 4_000_000  # offered: more than a core can open, so it opens as fast as it can
WARM_UP_S = 1.0
MEASURE_S = 2.0
HELD_FLOWS = (1_000, 100_000, 400_000)

# Figures of others from a machine of this kind, by the response's bytes; ratios hold, figures
# drift from machine to machine.
TREX_CPS = {100: 520_000, 32_000: 180_000}


def saturation_cps(client: TrexClient, response_bytes: int) -> float:
    """Completed connections per second with more offered than the core can do."""
    client.load_profile(PROFILES / "http_program.py", {"response_bytes": response_bytes})
    client.start(OVERLOAD_CPS, duration=60)
    try:
        time.sleep(WARM_UP_S)
        before, since = closed(client), time.monotonic()
        time.sleep(MEASURE_S)
        after, until = closed(client), time.monotonic()
    finally:
        traffic = client.stats()["traffic"]
        client.stop()
    for side in ("client", "server"):
        for counter in ("tcps_drops", "tcps_conndrops", "tcps_sndrexmitpack", "tcps_rexmttimeo"):
            if traffic[side][counter]:
                sys.exit(f"{response_bytes} bytes: {side} {counter} is {traffic[side][counter]}")
    return (after - before) / (until - since)


def closed(client: TrexClient) -> int:
    """Connections that ended so far."""
    return int(client.stats()["traffic"]["client"]["tcps_closed"])


def bytes_per_flow(client: TrexClient) -> float:
    """Bytes of the engine's pools per held flow, both its ends: slope over HELD_FLOWS."""
    points = []
    for flows in HELD_FLOWS:
        rate = 50_000
        hold = flows / rate + 3
        arguments = {"flows": flows, "cps": rate, "hold_seconds": hold, "response_bytes": 100}
        client.load_profile(PROFILES / "http_hold.py", arguments)
        client.start(1)
        time.sleep(flows / rate + 1.5)
        pools = client.call("stackcost_get_memory", {})["pools"]
        points.append((flows, sum(pool["reserved_bytes"] for pool in pools)))
        client.stop()
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def trials(count: int, figures: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    """`count` values of each figure, taken in turn."""
    values: dict[str, list[float]] = {name: [] for name in figures}
    for trial in range(count):
        for name, measure in figures.items():
            value = measure()
            values[name].append(value)
            print(f"trial {trial + 1} of {count}: {name}: {value:,.0f}", flush=True)
    return values


def row(name: str, unit: str, values: list[float], other: float | None) -> dict[str, Any]:
    """A figure with its spread, and how often it is TRex 3.08's."""
    median = statistics.median(values)
    ratio = median / other if other else None
    return {
        "name": name,
        "unit": unit,
        "median": median,
        "minimum": min(values),
        "maximum": max(values),
        "trials": values,
        "trex_3_08": other,
        "ratio_to_trex": ratio,
    }


def main() -> None:
    """Measure, print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "build" / "bench.json")
    options = parser.parse_args()
    cpu = max(os.sched_getaffinity(0))
    wire = Port("wire")
    with tempfile.TemporaryDirectory() as folder:
        config = TrexConfig("bench", [wire, wire], [cpu], rpc_port=14501, async_port=14500)
        with (
            Generator(config, Path(folder)),
            TrexClient(rpc_port=config.rpc_port, async_port=config.async_port) as client,
        ):
            client.connect()
            client.reset()
            cps = {
                f"CPS, {size:,}-byte responses": (lambda size=size: saturation_cps(client, size))
                for size in TREX_CPS
            }
            values = trials(options.trials, cps)
        # A process of its own: pools do not shrink, and the load above has grown them.
        with (
            Generator(config, Path(folder)),
            TrexClient(rpc_port=config.rpc_port, async_port=config.async_port) as client,
        ):
            client.connect()
            client.reset()
            flow = [bytes_per_flow(client)]
    rows = [
        row(name, "connections/s", seen, other)
        for (name, seen), other in zip(values.items(), TREX_CPS.values(), strict=True)
    ]
    rows.append(row("memory per open flow, client's and server's end", "B", flow, None))
    for figure in rows:
        ratio = figure["ratio_to_trex"]
        beside = f", {ratio:.2f} x TRex 3.08 ({figure['trex_3_08']:,})" if ratio else ""
        print(
            f"{figure['name']}: {figure['median']:,.0f} {figure['unit']} "
            f"({figure['minimum']:,.0f}-{figure['maximum']:,.0f}){beside}"
        )
    options.out.parent.mkdir(exist_ok=True)
    machine = {"cpu": cpu, "kernel": platform.release(), "machine": platform.machine()}
    options.out.write_text(json.dumps({"machine": machine, "figures": rows}, indent=2))
    print(options.out)


if __name__ == "__main__":
    main()
