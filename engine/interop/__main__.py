"""The interoperability matrix: the engine's TCP against the kernel's, in both roles.

Every combination of timestamps, SACK, window scaling and ECN, over a clean, a lossy, a reordering
and a marking wire, with flows of 1 byte, 32 KB and 10 MB each way. Run by `script/bench interop`.
"""

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.interop.bed import Wire, engine_on, host_behind_router
from engine.interop.cell import ALL_OPTIONS, ECN, Cell, run_cell
from engine.interop.table import table

WIRES = {
    "clean": Wire(),
    "1 % loss": Wire(loss=10),
    "0.1 % loss, 1 % reordered": Wire(loss=1, reordering=10),
    "1 % CE marks": Wire(congestion=10),
}
SIZES = {1: 20, 32_768: 20, 10_000_000: 2}  # bytes each way: flows at once
# What the engine alone does differently: options it does not offer, CUBIC, tiny segments, windows.
TUNABLES = (
    (32_768, ("rfc1323", 0)),
    (32_768, ("sack", 0)),
    (32_768, ("ecn", 0)),
    (10_000_000, ("cc_algo", 1)),
    (32_768, ("mss", 88)),
    (32_768, ("buffer", 2048)),
)


def cells(engine_is_server: bool, wire: Wire) -> Iterator[Cell]:
    """What runs in one role over one wire: all combinations, and the engine's own refusals."""
    lossy = wire.loss > 0
    for options in range(ALL_OPTIONS + 1):
        if wire.congestion and not options & ECN:
            continue
        for size, flows in SIZES.items():
            yield Cell(engine_is_server, options, size, flows, lossy)
    for size, tunable in TUNABLES:
        yield Cell(engine_is_server, ALL_OPTIONS, size, SIZES[size], lossy, (tunable,))


def run_role(engine_is_server: bool, name: str, wire: Wire) -> Iterator[dict[str, Any]]:
    """All cells of one role over one wire, on a bed of their own."""
    with (
        tempfile.TemporaryDirectory(prefix="stackcost-interop-") as folder,
        host_behind_router(wire) as bed,
        engine_on(bed, Path(folder), server=engine_is_server) as client,
    ):
        for cell in cells(engine_is_server, wire):
            yield {"wire": name, **run_cell(cell, bed, client)}


def main() -> None:
    """Run what is asked for; ends with 1 when a flow was not whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wire", choices=WIRES, action="append", help="only over this one")
    parser.add_argument("--engine", choices=("client", "server"), action="append")
    parser.add_argument("--json", type=Path, default=Path("build/interop.json"))
    wanted = parser.parse_args()
    results = []
    for name in wanted.wire or WIRES:
        for role in wanted.engine or ("client", "server"):
            for result in run_role(role == "server", name, WIRES[name]):
                results.append(result)
                print(line(result), file=sys.stderr, flush=True)
    about = {"kernel": platform.release(), "results": results}
    wanted.json.parent.mkdir(parents=True, exist_ok=True)
    wanted.json.write_text(json.dumps(about, indent=1) + "\n")
    print(table(results))
    sys.exit(any(result["fault"] for result in results))


def line(result: dict[str, Any]) -> str:
    """Progress: one cell in one line."""
    options = "".join(
        letter if result[name] else "-"
        for letter, name in (("T", "timestamps"), ("S", "SACK"), ("W", "scaling"), ("E", "ECN"))
    )
    tunables = " ".join(f"{name}={value}" for name, value in result["tunables"].items())
    return (
        f"engine as {result['engine']}, {result['wire']}, {options} {tunables}, "
        f"{result['bytes_each_way']} B x {result['flows']}: "
        f"{result['fault'] or 'whole'} in {result['slowest_flow_seconds']} s"
    )


main()
