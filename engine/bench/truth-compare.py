"""Whether `stackcost diff` calls identical set-ups different, and finds a 5 % slowdown.

Three nginx take turns: A, its twin A', and B, which evaluates as many regular expressions more for
each request as make it 5 % dearer; how many that are is measured first. Every trial is real. Of
them 40 comparisons are drawn, each of `ROUNDS` trials at each load against as many, compared as
`diff` compares two systems of a run, and counted: A against A' are to be called different at most
at the stated rate, A against B nine times in ten. The draws share trials, so that the share is
surer than each and less than 40 independent ones say.
"""

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from tools.machine import cpus

from harness.analysis.compare import RATE, compare
from harness.analysis.figures import Figure, figures
from harness.analysis.paired import COST, FREE_TIME, LOAD_TIME, Figures, paired
from harness.analysis.spread import Spread
from harness.experiment.load_file import load_experiment
from harness.experiment.runner import run_experiment
from harness.report.stored import summary_of

REPOSITORY = Path(__file__).resolve().parents[2]
SLOWDOWN = 0.05
COMPARISONS = 40
ROUNDS = 4  # as experiments/compare.yaml has, at as many loads
LOADS = [1000, 2000, 3000, 4000]
CALIBRATION_RULES, CALIBRATION_ROUNDS = 1500, 2
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
  offered_cps: {loads}
  warm_up_s: 2
  sustain_s: 8 # as compare.yaml
  drain_s: 5
memory:
  profile: {repository}/trex_profiles/http_hold.py
  open_flows: [0, 10]
  open_cps: 1000
  settle_s: 0.1
  read_s: 0.1
"""


def run(trials: int) -> dict[str, Any]:
    """`trials`: turns of each of the three, for each trial that a comparison has."""
    with tempfile.TemporaryDirectory(prefix="stackcost-truth-") as made:
        folder = Path(made)
        bare, many = (_tier(folder, f"rules-{n}", n) for n in (0, CALIBRATION_RULES))
        base, loaded = map(_typical, _measured(folder, [bare, many], CALIBRATION_ROUNDS))
        rules = round(SLOWDOWN * base / ((loaded - base) / CALIBRATION_RULES))
        print(
            f"A takes {base:.1f} us; {CALIBRATION_RULES} rules make it {loaded:.1f}: B has {rules}"
        )
        names = (("a", 0), ("twin", 0), ("b", rules))
        tiers = [_tier(folder, name, count) for name, count in names]
        a, twin, b = _measured(folder, tiers, max(2, trials) * ROUNDS)
    result = {
        "rules": rules,
        "us": {
            name: {f"{load:g}": side[COST, load].spread.values for load in LOADS}
            for name, side in (("a", a), ("twin", twin), ("b", b))
        },
        "a_against_twin": _share_called(a, twin),
        "a_against_b": _share_called(a, b),
        "rate": RATE,
    }
    for name, wanted in (("a_against_twin", f"at most {RATE:.0%}"), ("a_against_b", "90 %")):
        print(f"{name}: {result[name]:.0%} of {COMPARISONS} called different, wanted {wanted}")
    return result


def _share_called(a: Figures, b: Figures) -> float:
    """Of comparisons of trials drawn from both."""
    drawn = random.Random(7)
    called = 0
    for _ in range(COMPARISONS):
        found = paired(_drawn(drawn, a), _drawn(drawn, b))
        judged = [each for each in found if each.judged]
        unsure = [each.memory.unsure if each.memory else 0.0 for each in judged]
        (answer,) = compare([each.pair for each in judged], [True], unsure=unsure)
        called += answer.verdict == "different"
    return called / COMPARISONS


def _drawn(drawn: random.Random, side: Figures) -> Figures:
    """`ROUNDS` of a side's trials at each load, with all that is known of each."""
    found = {}
    for load in LOADS:
        trials = len(side[COST, load].spread.values)
        picked = drawn.sample(range(trials), min(ROUNDS, trials))
        for name in (COST, LOAD_TIME, FREE_TIME):
            figure = side[name, load]
            values = figure.spread.values
            of_picked = _spread([values[at] for at in picked] if len(values) == trials else [])
            found[name, load] = Figure(figure.server, name, load, of_picked)
    return found


def _spread(values: Sequence[float]) -> Spread:
    """Without the interval of the median, which takes long and is not looked at."""
    middle = sorted(values)[len(values) // 2] if values else None
    return Spread(unit="", values=list(values), median=middle)


def _typical(side: Figures) -> float:
    """Mean over the loads of the median cost."""
    return sum(side[COST, load].spread.median or 0.0 for load in LOADS) / len(LOADS)


def _tier(folder: Path, name: str, rules: int) -> Path:
    """A tier whose nginx evaluates so many expressions, none of which ever matches."""
    cases = " ".join(f'"~^/never[0-9]+/{number}$" 1;' for number in range(rules))
    path = folder / f"{name}.yaml"
    path.write_text(TIER.format(rules=rules, cases=cases.replace("'", "")))
    return path


def _measured(folder: Path, tiers: list[Path], rounds: int) -> list[Figures]:
    """The figures of each tier's nginx, in the order of the tiers."""
    experiment = folder / "experiment.yaml"
    experiment.write_text(
        EXPERIMENT.format(
            tiers=", ".join(map(str, tiers)),
            rounds=rounds,
            load=cpus()[0],
            server=cpus()[-1],
            loads=LOADS,
            repository=REPOSITORY,
        )
    )
    console = Console(stderr=True)
    stored = run_experiment(load_experiment(experiment), "truth", folder / "results", [], console)
    sides: dict[str, dict[tuple[str, float | None], Figure]] = {}
    for figure in figures(summary_of(stored)):
        sides.setdefault(figure.server, {})[figure.name, figure.at] = figure
    return list(sides.values())
