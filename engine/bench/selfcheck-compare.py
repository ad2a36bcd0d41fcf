"""Whether `stackcost diff` calls identical set-ups different, and finds a 5 % slowdown.

Three nginx take turns by the plan of experiments/difference.yaml: A, its twin A', and B, which
evaluates as many regular expressions more for each request as make it 5 % dearer; how many that are
is measured first. Every turn is real. Of them 40 comparisons are drawn, each of as many rounds as
the plan has, compared as `diff` compares two systems of a run, and counted: turns of A and A', of
each round at random on either side, are to be called different at most at the stated rate, one of
them against B's nine times in ten. How much dearer B is in the end, its turns say; where that is
not 5 %, its costs are judged as measured and, times what is missing to it, once more. The draws
share turns, so that the share is surer than each and less than 40 independent ones say.
"""

import random
import tempfile
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from rich.console import Console
from tools.machine import cpus

from stackcost.analysis.comparing.comparison import Comparison, Design, compare
from stackcost.analysis.comparing.system_series import SystemFigures, cost_series, figures_of
from stackcost.analysis.summary import TrialRow
from stackcost.analysis.trial.thresholds import RATE
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.report.results.stored import summary_of
from stackcost.runs.comparison import run_experiment

REPOSITORY = Path(__file__).resolve().parents[2]
SLOWDOWN = 0.05
COMPARISONS = 40
PLAN = read_experiment(REPOSITORY / "experiments" / "difference.yaml")
TURNS = PLAN.rounds  # in each comparison
POOL = TURNS * 5 // 4  # of each system, to draw them from
CALIBRATION_RULES, CALIBRATION_TURNS = 1000, 12  # so few rules that it stays below its ceiling
TIER = """
title: {rules} regular expressions for each request
source: this proof
nginx:
  http:
    ? 'map $request_uri $burnt {{ default ""; {cases} }} add_header X-Burnt'
    : {{ value: $burnt, source: this proof }}
"""


def run(trials: int) -> dict[str, Any]:
    """`trials`: pools of turns, one after the other; 40 minutes each."""
    with tempfile.TemporaryDirectory(prefix="stackcost-selfcheck-") as made:
        folder = Path(made)
        bare, many = (_tier(folder, f"rules-{n}", n) for n in (0, CALIBRATION_RULES))
        added = _compared(*_measured(folder, [bare, many], CALIBRATION_TURNS)).ratio or 1.0
        rules = round(SLOWDOWN / ((added - 1) / CALIBRATION_RULES))
        print(f"{CALIBRATION_RULES} rules make it {added - 1:.1%} dearer: B has {rules}")
        names = (("a", 0), ("twin", 0), ("b", rules))
        tiers = [_tier(folder, name, count) for name, count in names]
        a, twin, b = _measured(folder, tiers, trials * POOL)
    b_over_a = sqrt((_compared(a, b).ratio or 1.0) * (_compared(twin, b).ratio or 1.0))
    chance = random.Random(7)
    draws = [_drawn(chance, a, twin, b) for _ in range(COMPARISONS)]
    slower_by = (1 + SLOWDOWN) / b_over_a
    result = {
        "rules": rules,
        "us": {
            name: [trial.model_dump(include=KEPT) for trial in side.trials]
            for name, side in (("a", a), ("twin", twin), ("b", b))
        },
        "b_over_a": b_over_a,
        "a_against_a": _share_called([(one, other) for one, other, _ in draws]),
        "a_against_b": _share_called([(one, slower) for one, _, slower in draws]),
        "a_against_5_percent": _share_called(
            [(one, _times(slower_by, slower)) for one, _, slower in draws]
        ),
        "rate": RATE,
    }
    print(f"B over A and its twin: {b_over_a:.3f}, by all turns")
    for name, wanted in (
        ("a_against_a", f"at most {RATE:.0%}"),
        ("a_against_b", "90 %"),
        ("a_against_5_percent", f"90 %, B's costs times {slower_by:.3f}"),
    ):
        print(
            f"{name}: {result[name]:.0%} of {COMPARISONS} called different, {TURNS} turns each; "
            f"wanted {wanted}"
        )
    return result


KEPT = {
    "round",
    "offered_cps",
    "server_cpu_total",
    "whole_cpu_total",
    "undisturbed",
    "memory_read_time",
    "system_call_time",
}


def _share_called(comparisons: Sequence[tuple[SystemFigures, SystemFigures]]) -> float:
    return sum(_compared(a, b).differs for a, b in comparisons) / len(comparisons)


def _compared(a: SystemFigures, b: SystemFigures) -> Comparison:
    """The cost of both, as `diff` compares it."""
    return compare(cost_series(a.trials), cost_series(b.trials), Design(paired=True))


def _drawn(
    draw: random.Random, a: SystemFigures, twin: SystemFigures, b: SystemFigures
) -> tuple[SystemFigures, SystemFigures, SystemFigures]:
    """`TURNS` of the rounds; chance says in each which of A and its twin is the first."""
    rounds = set(draw.sample(sorted({trial.round for trial in a.trials}), TURNS))
    kept = {number for number in sorted(rounds) if draw.random() < 0.5}

    def of(side: SystemFigures, numbers: set[int]) -> list[TrialRow]:
        return [trial for trial in side.trials if trial.round in numbers]

    first = of(a, kept) + of(twin, rounds - kept)
    second = of(twin, kept) + of(a, rounds - kept)
    return (
        a._replace(trials=first),
        a._replace(trials=second),
        b._replace(trials=of(b, rounds)),
    )


def _times(factor: float, side: SystemFigures) -> SystemFigures:
    """The same turns, each that much as dear."""
    costs = ("server_cpu_total", "whole_cpu_total")
    return side._replace(
        trials=[
            each.model_copy(
                update={"figures": {name: factor * (each.figures[name] or 0.0) for name in costs}}
            )
            for each in side.trials
        ]
    )


def _tier(folder: Path, name: str, rules: int) -> Path:
    """A tier whose nginx evaluates so many expressions, none of which ever matches."""
    cases = " ".join(f'"~^/never[0-9]+/{number}$" 1;' for number in range(rules))
    path = folder / f"{name}.yaml"
    path.write_text(TIER.format(rules=rules, cases=cases.replace("'", "")))
    return path


def _measured(folder: Path, tiers: list[Path], turns: int) -> list[SystemFigures]:
    """What is known of each tier's nginx after so many turns, in the order of the tiers."""
    plan = PLAN.model_dump(mode="json") | {
        "matrix": {"tuning": [str(tier) for tier in tiers]},
        "rounds": turns,
        "cores": {"load": [cpus()[0]], "server": [cpus()[-1]]},
    }
    experiment = Experiment.model_validate(plan)
    console = Console(stderr=True)
    stored = run_experiment(experiment, "selfcheck", folder / "results", [], console)
    summary = summary_of(stored)
    return [figures_of(summary, server.name) for server in summary.servers]
