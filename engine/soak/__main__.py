"""A soak: whether the engine gives back all that it took, whatever happens to its flows.

Rounds of random traffic with loss, delay, reordering, damage and aborts, over an in-memory wire and
over shared memory (memif), some with more flows than fit. After each, no flow, extension, client
port, timer or packet buffer may be left, and no payload may have come that was not sent. Run by
`script/soak`.
"""

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from engine.soak.bed import Bed, drops_of, impairments_of, memif_bed, wire_bed
from engine.soak.rounds import draw, leaks, run
from stackcost.contracts.errors import StackcostError

BEDS = {"wire": wire_bed, "memif": memif_bed}
ROUND_S = 4.0


def soak(bed: Bed, until: float, chance: random.Random) -> dict[str, Any]:
    """Rounds until the monotonic time `until`, one at least. StackcostError upon a leak."""
    idle = {end.name: end.held() for end in bed.ends}
    rounds: list[dict[str, Any]] = []
    totals: Counter[str] = Counter()
    while not rounds or time.monotonic() < until:
        plan = draw(chance, min(ROUND_S, max(1.0, until - time.monotonic())))
        counters = run(bed, plan, chance)
        for end in bed.ends:
            if left := leaks(end, idle[end.name]):
                raise StackcostError(f"{bed.name}, {plan}: {end.name} has not given back {left}")
        totals.update(counters)
        rounds.append({"traffic": plan.traffic, "ending": plan.ending, **plan.tunables})
        flows = counters["tcps_connattempt"] + counters["udps_connects"]
        print(f"{bed.name}: {plan.traffic}, {plan.ending}: {flows:,} flows, no leak", flush=True)
    drops: Counter[str] = Counter()
    impairments: Counter[str] = Counter()
    for end in bed.ends:
        drops.update(drops_of(end))
        impairments.update(impairments_of(end))
    return {
        "rounds": rounds,
        "counters": dict(totals),
        "drops": dict(drops),
        "impairments": dict(impairments),
    }


def main() -> None:
    """Each bed for its share of the time; ends with 1 upon a leak."""
    parser = argparse.ArgumentParser(prog="script/soak", description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=600.0, help="in all (600)")
    parser.add_argument("--bed", choices=BEDS, action="append", help="only this one")
    parser.add_argument("--seed", type=int, default=None, help="of every choice, to do it again")
    parser.add_argument("--json", type=Path, default=Path("build/soak.json"))
    wanted = parser.parse_args()
    seed = wanted.seed if wanted.seed is not None else random.SystemRandom().randrange(2**32)
    beds = wanted.bed or list(BEDS)
    cpus = sorted(os.sched_getaffinity(0))
    print(f"seed {seed}", flush=True)
    results: dict[str, Any] = {"seed": seed}
    for name in beds:
        opened: AbstractContextManager[Bed] = BEDS[name](cpus)
        with opened as bed:
            until = time.monotonic() + wanted.seconds / len(beds)
            results[name] = soak(bed, until, random.Random(seed))
        summary = results[name]
        print(f"\n{name}: {len(summary['rounds'])} rounds, nothing left over")
        for part in ("counters", "drops", "impairments"):
            print(f"  {part}: " + ", ".join(f"{k} {v:,}" for k, v in summary[part].items() if v))
        wanted.json.parent.mkdir(parents=True, exist_ok=True)
        wanted.json.write_text(json.dumps(results, indent=1) + "\n")


try:
    main()
except StackcostError as error:
    sys.exit(f"soak: {error}")
