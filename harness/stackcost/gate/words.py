"""The messages of a gate: one sentence, and an explanation if the gate fails."""

import difflib
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from stackcost.analysis.machines import differences
from stackcost.analysis.remedies import remedy
from stackcost.analysis.spread import Spread, spread
from stackcost.contracts.words import count
from stackcost.gate.baseline import Baseline
from stackcost.gate.figure import CEILING, DECLARED, UNIT, WHOLE_CORES, Figure
from stackcost.gate.trial import GateTrial, comparable, foreign_share
from stackcost.gate.verdict import Verdict
from stackcost.report.words import UNKNOWN, change, with_range

PLOT_WIDTH = 48  # characters
SHOWN_CHANGES = 12
LONGEST_LINE = 100
BETTER_ALONE = 0.05  # share of the server's cores; above it, measure the baseline again
TRIAL = {WHOLE_CORES: ("trial", "trials"), CEILING: ("search", "searches")}
COUNT_INSTEAD = (
    "Neither other programs nor a slow host change a count of instructions: cost_ceiling."
)
OUTCOMES = {
    "holds": "the {figure} holds",
    "below": "the {figure} is BELOW the limit",
    "cannot tell": "cannot tell",
}


def sentence(verdict: Verdict, figure: Figure, aside: str = "") -> str:
    """The result, the change with its interval, and the number of trials. `aside`: which trials are
    not judged, in words; a result that cannot be told says so.
    """
    by = change(verdict.ratio, verdict.low, verdict.high, verdict.coverage)
    tolerance = f", tolerance {1 - verdict.floor:.1%}" if verdict.floor < 1 else ""
    against = "baseline" if len(verdict.wanted.values) > 1 else "wanted"
    outcome = OUTCOMES[verdict.outcome].format(figure=figure)
    text = (
        f"{outcome}: {with_range(verdict.seen)} {UNIT}, {by} against "
        f"{with_range(verdict.wanted)} ({against}){tolerance}"
    )
    trials = count(len(verdict.seen.values), *TRIAL[figure])
    if not verdict.why.startswith(trials):
        text += f", {trials}"
    if verdict.apart and verdict.outcome != "cannot tell":
        text += f"; two measurements of the same server may differ by {verdict.apart:.1%}"
    told = verdict.outcome != "cannot tell" or aside in verdict.why
    why = "; ".join(filter(None, [verdict.why, "" if told else aside]))
    text = f"{text}: {why}" if why else text
    return f"{text}. {COUNT_INSTEAD}" if aside and verdict.outcome == "cannot tell" else text


def baseline_sentence(trials: Sequence[GateTrial], figure: Figure) -> str:
    """The value of a baseline, and a warning if other programs ran."""
    used = comparable(trials)
    found = spread([trial.cps for trial in used], UNIT)
    text = f"baseline of the {figure}: {with_range(found)} {UNIT}, "
    text += count(len(used), *TRIAL[figure])
    if len(used) < len(trials):
        text += f" ({len(trials) - len(used)} more trials were disturbed)"
    taken = foreign_share(used)
    if taken > BETTER_ALONE:
        stolen = median([trial.stolen or 0.0 for trial in used])
        who = "the hypervisor" if stolen > taken / 2 else "other programs"
        cause = f"{who} used {taken:.0%} of the server's cores"
        text += f" ({cause}. {remedy(cause)})"
    return text


def explain(
    said: str,
    figure: Figure,
    verdict: Verdict,
    now: Sequence[GateTrial],
    baseline: Baseline | None,
    setup: Mapping[str, Any],
    folder: str,
) -> str:
    """The sentence, what the figure is, distributions, changes of CPU time, other differences."""
    p = "" if verdict.p is None else f"p = {verdict.p:.2g}, "
    before = baseline.trials if baseline else []
    before, now = comparable(before, now), comparable(now, before)
    lines = [said, f"{p}significance level {verdict.rate:.2g}", ""]
    lines += [f"{figure}: {DECLARED[figure].definition}", ""]
    lines += distributions(figure, verdict.wanted, verdict.seen, verdict.floor)
    lines += ["", *cpu_lines(before, now)]
    lines += host_lines(before, now)
    limited = sum(not trial.kept_up and not trial.cores_full for trial in now)
    if limited:
        lines.append(
            f"In {limited} of {len(now)} trials the server did not complete the offered load, "
            "although its cores were not full: the bottleneck was not CPU time."
        )
    if baseline:
        changed = changes(baseline.setup, setup)
        lines += ["", f"Differences from the baseline of {baseline.taken}:"]
        lines += [f"  {line}" for line in changed[:SHOWN_CHANGES]] or [
            "  none in recorded settings"
        ]
        if len(changed) > SHOWN_CHANGES:
            lines.append(f"  and {len(changed) - SHOWN_CHANGES} more, see {folder}/manifest.json")
    return "\n".join([*lines, "", f"All readings: {folder}"])


def host_lines(before: Sequence[GateTrial], now: Sequence[GateTrial]) -> list[str]:
    """How fast the host was, compared with the baseline's; nothing is corrected for it.

    The server itself may slow what is timed, so the times do not tell whose fault it is.
    """
    found = []
    for name, read in {
        "A read from memory": _memory_read_ns,
        "A system call": _system_call_ns,
    }.items():
        sides = [[value for each in side if (value := read(each))] for side in (before, now)]
        if all(sides):
            slower = median(sides[1]) / median(sides[0]) - 1
            found.append(f"{name} took {slower:+.1%} time compared with the baseline.")
    return found


def _memory_read_ns(trial: GateTrial) -> float | None:
    return trial.memory_read_ns


def _system_call_ns(trial: GateTrial) -> float | None:
    return trial.whole.system_call_ns if trial.whole else None


def distributions(figure: Figure, wanted: Spread, seen: Spread, floor: float) -> list[str]:
    """Both samples on one scale: a digit is a number of trials, | is the required minimum."""
    values = [*wanted.values, *seen.values]
    low, high = min(values), max(values)
    limit = floor * (wanted.median or 0.0)
    low, high = min(low, limit), max(high, limit)
    span = (high - low) or 1.0

    def place(value: float) -> int:
        return round((value - low) / span * (PLOT_WIDTH - 1))

    rows = [
        f"{figure}, {UNIT}, {low:,.0f} to {high:,.0f}; | is the required minimum",
    ]
    for name, each in (("wanted", wanted), ("now", seen)):
        marks = [" "] * PLOT_WIDTH
        marks[place(limit)] = "|"
        counts = [place(value) for value in each.values]
        for at in set(counts):
            marks[at] = str(min(9, counts.count(at)))
        rows.append(f"  {name:<8} [{''.join(marks)}] median {each.median or 0:,.0f}")
    return rows


def cpu_lines(before: Sequence[GateTrial], now: Sequence[GateTrial]) -> list[str]:
    """CPU time per connection by kind, before and now, and the kind that increased most.

    Searches have none.
    """
    kinds = list(dict.fromkeys(kind for trial in now for kind in trial.cpu))
    if not kinds:
        return []
    rows = ["CPU time of the server per connection, us (median):"]
    grown: dict[str, float] = {}
    for kind in kinds:
        old, new = _median([t.cpu.get(kind) for t in before]), _median([t.cpu[kind] for t in now])
        row = (
            f"  {kind:<10} {_us(old):>8} -> {_us(new):>8}" if before else f"  {kind:<10} {_us(new)}"
        )
        if old is not None and new is not None:
            grown[kind] = new - old
            row += f"  {new - old:+.1f}"
        rows.append(row)
    if not grown or max(grown.values()) <= 0:
        return rows
    most = max(grown, key=lambda kind: grown[kind])
    share = grown[most] / sum(change for change in grown.values() if change > 0)
    text = f"The largest increase is in {most} time: {grown[most]:+.1f} us, {share:.0%} of all."
    if most == "softirq":
        text += _vectors(before, now)
    return [*rows, text]


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The differences in the set-up, with the changed lines of the server's configuration."""
    old, new = dict(before), dict(now)
    configurations = []
    for side in (old, new):
        side["server"] = dict(side.get("server", {}))
        configurations.append(str(side["server"].pop("configuration", "")).splitlines())
    lines = [
        f"server's configuration: {line[:LONGEST_LINE]}"
        for line in difflib.unified_diff(configurations[0], configurations[1], lineterm="", n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    # Changes that the machine makes by itself come last.
    found = differences(old, new)
    return lines + sorted(found, key=lambda line: line.startswith("machine."))


def _vectors(before: Sequence[GateTrial], now: Sequence[GateTrial]) -> str:
    """The softirq vector that grew most."""
    grown = {}
    for vector in {name for trial in now for name in trial.softirq}:
        old = _median([trial.softirq.get(vector) for trial in before])
        new = _median([trial.softirq.get(vector) for trial in now])
        grown[vector] = (new or 0.0) - (old or 0.0)
    if not grown:
        return ""
    most = max(grown, key=lambda name: grown[name])
    return f" The softirq vector that increased most is {most}: {grown[most]:+.1f} us."


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _us(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"
