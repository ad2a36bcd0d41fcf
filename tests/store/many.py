"""Writes many stored runs, to see how long it takes to list them.

Usage: python -m tests.store.many FOLDER [COUNT]. The runs have the manifest and the answer of
a real one, with other values, and the lines of 30 trials; they have no samples. 10,000 take
2 GB. All figures change by 4 % in the middle.
"""

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.store import trial_lines

REAL = Path(__file__).parents[1] / "fixtures" / "runs" / "stock"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
TRIALS = 30


def write_many(results: Path, count: int, step: float = 1.04) -> None:
    """`count` complete runs in `results`, a day apart. `step`: from the middle on."""
    manifest = json.loads((REAL / "manifest.json").read_text())
    answer = json.loads((REAL / "summary.json").read_text())
    lines = [
        trial_lines.encode(Trial("nginx/kernel", number, 1, ConstantLoad(offered_cps=2000.0)))
        for number in range(1, TRIALS + 1)
    ]
    chance = random.Random(1)
    for at in range(count):
        began = BEGAN + timedelta(days=at)
        name = f"{began:%Y%m%dT%H%M%SZ}-nightly"
        run = results / name
        run.mkdir(parents=True)
        own = manifest | {"run": name, "started": began.isoformat(), "state": "complete"}
        (run / "manifest.json").write_text(json.dumps(own, indent=2))
        (run / "trials.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
        factor = chance.gauss(1, 0.02) * (step if at >= count // 2 else 1)
        (run / "summary.json").write_text(json.dumps(scaled(answer, factor) | {"run": name}))


def scaled(answer: Any, factor: float) -> Any:
    """The same answer with values of all figures changed by a factor."""
    if isinstance(answer, list):
        return [scaled(each, factor) for each in answer]
    if not isinstance(answer, dict):
        return answer
    own = {name: scaled(each, factor) for name, each in answer.items()}
    if "median" in own and "values" in own:
        own["values"] = [value * factor for value in own["values"]]
        for name in ("median", "minimum", "maximum", "low", "high"):
            own[name] = own.get(name) and own[name] * factor
    return own


if __name__ == "__main__":
    write_many(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
