"""Whether `stackcost diff` calls identical set-ups different, and finds a 5 % slowdown.

Three nginx take turns: A, its twin A', and B, which evaluates as many regular expressions more for
each request as make it 5 % dearer; how many that are is measured first. Every trial is real. Of
them 40 comparisons are drawn, each of 10 trials against 10 as `diff` compares them, and counted:
A against A' are to be called different at most at the stated rate, A against B nine times in ten.
The draws share trials, so that the share is surer than each and less than 40 independent ones say.
"""

import random
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from tools.machine import cpus

from harness.analysis.compare import RATE, judge
from harness.analysis.figures import figures
from harness.analysis.spread import Spread, spread
from harness.experiment.load_file import load_experiment
from harness.experiment.runner import run_experiment
from harness.report.stored import summary_of

REPOSITORY = Path(__file__).resolve().parents[2]
SLOWDOWN = 0.05
COMPARISONS, TRIALS_EACH = 40, 10
CALIBRATION_RULES = 1500
LEVELS = [2000, 2001, 2002, 2003, 2004]  # repeats in one turn: their difference is nothing
TIER = """
title: {rules} regular expressions for each request
source: this proof
nginx:
  http:
    ? 'map $request_uri $burnt {{ default ""; {cases} }} add_header X-Burnt'
    : {{ value: $burnt, source: this proof }}
"""
EXPERIMENT = """
title: whether a difference is told from none
servers: [nginx/kernel]
matrix: {{ tuning: [{tiers}] }}
baseline: nginx/kernel
against: nginx/kernel
rounds: {rounds}
cores: {{ load: [{load}], server: [{server}] }}
nginx: {{ tuning: stock, worker_connections: 4096 }}
workload:
  request_bytes: 100
  response_bytes: 2000
  clients: 16.0.0.1-16.0.0.200
  server: 48.0.0.1
  port: 80
load:
  profile: {repository}/trex_profiles/http_program.py
  offered_cps: {levels}
  warm_up_s: 2
  sustain_s: 5
  drain_s: 5
memory:
  profile: {repository}/trex_profiles/http_hold.py
  open_flows: [0, 10]
  open_cps: 1000
  settle_s: 0.1
  read_s: 0.1
"""


def run(trials: int) -> dict[str, Any]:
    """`trials`: turns of each of the three; each gives five trials, 10 of which are compared."""
    with tempfile.TemporaryDirectory(prefix="stackcost-truth-") as made:
        folder = Path(made)
        bare, many = (_tier(folder, f"rules-{n}", n) for n in (0, CALIBRATION_RULES))
        costs = _costs(folder, [bare, many], rounds=2)
        base, loaded = (spread(values, "us").median or 0.0 for values in costs.values())
        rules = round(SLOWDOWN * base / ((loaded - base) / CALIBRATION_RULES))
        print(
            f"A takes {base:.1f} us; {CALIBRATION_RULES} rules make it {loaded:.1f}: B has {rules}"
        )
        names = (("a", 0), ("twin", 0), ("b", rules))
        tiers = [_tier(folder, name, count) for name, count in names]
        a, twin, b = _costs(folder, tiers, rounds=max(2, trials)).values()
    result = {
        "rules": rules,
        "us": {"a": a, "twin": twin, "b": b},
        "a_against_twin": _share_called(a, twin),
        "a_against_b": _share_called(a, b),
        "rate": RATE,
    }
    for name, wanted in (("a_against_twin", f"at most {RATE:.0%}"), ("a_against_b", "90 %")):
        print(f"{name}: {result[name]:.0%} of {COMPARISONS} called different, wanted {wanted}")
    return result


def _share_called(a: list[float], b: list[float]) -> float:
    """Of comparisons of trials drawn from both."""
    drawn = random.Random(7)
    called = 0
    for _ in range(COMPARISONS):
        sides = [_spread(drawn.sample(pool, min(TRIALS_EACH, len(pool)))) for pool in (a, b)]
        (found,) = judge([("server_cpu_total", "", sides[0], sides[1])], [True])
        called += found.verdict == "different"
    return called / COMPARISONS


def _spread(values: list[float]) -> Spread:
    return Spread(unit="us", values=values, median=sorted(values)[len(values) // 2])


def _tier(folder: Path, name: str, rules: int) -> Path:
    """A tier whose nginx evaluates so many expressions, none of which ever matches."""
    cases = " ".join(f'"~^/never[0-9]+/{number}$" 1;' for number in range(rules))
    path = folder / f"{name}.yaml"
    path.write_text(TIER.format(rules=rules, cases=cases.replace("'", "")))
    return path


def _costs(folder: Path, tiers: list[Path], rounds: int) -> dict[str, list[float]]:
    """CPU per connection of every trial by system, in the order of the tiers."""
    experiment = folder / "experiment.yaml"
    experiment.write_text(
        EXPERIMENT.format(
            tiers=", ".join(map(str, tiers)),
            rounds=rounds,
            load=cpus()[0],
            server=cpus()[-1],
            levels=LEVELS,
            repository=REPOSITORY,
        )
    )
    console = Console(stderr=True)
    stored = run_experiment(load_experiment(experiment), "truth", folder / "results", [], console)
    found: dict[str, list[float]] = {}
    for figure in figures(summary_of(stored)):
        if figure.name == "server_cpu_total":
            found.setdefault(figure.server, []).extend(figure.spread.values)
    return found
