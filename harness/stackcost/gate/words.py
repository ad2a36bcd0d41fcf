"""The messages of a gate: one sentence, and an explanation if the gate fails."""

from collections.abc import Mapping, Sequence
from typing import Any

from stackcost.analysis.comparing.machines import differences
from stackcost.analysis.figures.counted import SMALL
from stackcost.analysis.spread import Spread, spread
from stackcost.contracts.words import count
from stackcost.gate.baseline import Baseline
from stackcost.gate.figure import Judged
from stackcost.gate.trial import GateTrial, comparable, middle
from stackcost.gate.verdict import Verdict
from stackcost.report.words import change_of, with_range

PLOT_WIDTH = 48  # characters
SHOWN_CHANGES = 12
SHOWN_PARTS = 8  # that grew most
COUNT_INSTEAD = (
    "Neither other programs nor a slow host change a count of instructions: cost_ceiling."
)
OUTCOMES = {
    "holds": "the {figure} holds",
    "below": "the {figure} is BELOW the limit",
    "above": "the {figure} is ABOVE the limit",
    "cannot tell": "cannot tell",
}
HOST = {"memory_read_time": "A read from memory", "system_call_time": "A system call"}


def sentence(verdict: Verdict, figure: Judged, aside: str = "") -> str:
    """The result, the change with its interval, and the number of trials. `aside`: which trials are
    not judged, in words; a result that cannot be told says so.
    """
    found, unsure = verdict.compared, verdict.outcome == "cannot tell"
    tolerance = f", tolerance {abs(verdict.limit - 1):.1%}" if verdict.limit != 1 else ""
    against = "wanted" if verdict.apart is None else "baseline"
    outcome = OUTCOMES[verdict.outcome].format(figure=figure.title)
    text = (
        f"{outcome}: {with_range(found.b)} {figure.unit}, {change_of(found)} against "
        f"{with_range(found.a)} ({against}){tolerance}"
    )
    trials = count(len(found.b.values), *figure.trial)
    if not verdict.why.startswith(trials):
        text += f", {trials}"
    if verdict.apart and not unsure:
        text += f"; two measurements of the same server may differ by {verdict.apart:.1%}"
    told = not unsure or aside in verdict.why
    why = "; ".join(filter(None, [verdict.why, "" if told else aside]))
    text = f"{text}: {why}" if why else text
    return f"{text}. {COUNT_INSTEAD}" if aside and unsure else text


def baseline_sentence(trials: Sequence[GateTrial], figure: Judged) -> str:
    """The value of a baseline."""
    used = comparable(trials)
    found = spread([trial.figures[figure.name] for trial in used], figure.unit)
    text = f"baseline of the {figure.title}: {with_range(found)} {figure.unit}, "
    text += count(len(used), *figure.trial)
    if len(used) < len(trials):
        text += f" ({len(trials) - len(used)} more trials were disturbed)"
    return text


def explain(
    said: str,
    figure: Judged,
    verdict: Verdict,
    now: Sequence[GateTrial],
    baseline: Baseline | None,
    setup: Mapping[str, Any],
    folder: str,
) -> str:
    """The sentence, what the figure is, distributions, parts that grew, other differences."""
    found, lines = verdict.compared, [said]
    before = baseline.trials if baseline else []
    before, now = comparable(before, now), comparable(now, before)
    if found.p is not None:
        lines.append(f"p = {found.p:.2g}, significance level {verdict.rate:.2g}")
    lines += ["", f"{figure.title}: {figure.declared.definition}", ""]
    if len(found.b.values) > 1:
        lines += [*distributions(figure, found.a, found.b, verdict.limit), ""]
    for name, words in figure.parts.items():
        lines += parts_lines(before, now, name, words, digits=0 if figure.counted else 1)
    lines += _host_lines(before, now)
    if limited := sum(trial.limited for trial in now):
        lines.append(
            f"In {limited} of {len(now)} trials the server did not complete the offered load, "
            "although its cores were not full: the bottleneck was not CPU time."
        )
    if baseline:
        # Changes that the machine makes by itself come last.
        found_changes = differences(baseline.setup, setup)
        changed = sorted(found_changes, key=lambda line: line.startswith("machine."))
        lines += ["", f"Differences from the baseline of {baseline.taken}:"]
        lines += [f"  {line}" for line in changed[:SHOWN_CHANGES]] or [
            "  none in recorded settings"
        ]
        if len(changed) > SHOWN_CHANGES:
            lines.append(f"  and {len(changed) - SHOWN_CHANGES} more, see {folder}/manifest.json")
    return "\n".join([*lines, "", f"All readings: {folder}"])


def parts_lines(
    before: Sequence[GateTrial], now: Sequence[GateTrial], name: str, words: str, digits: int
) -> list[str]:
    """The kinds of a figure that grew, the most first, and the rest, so that the lines add up.

    Without a baseline all kinds.
    """
    old, new = _kinds(before, name), _kinds(now, name)
    if not new:
        return []
    if not old:
        return [f"{words}: " + ", ".join(f"{kind} {new[kind]:,.{digits}f}" for kind in new)]
    more = {kind: value - old.get(kind, 0.0) for kind, value in new.items() if kind != SMALL}
    grown = [kind for kind in sorted(more, key=lambda kind: -more[kind]) if more[kind] > 0]
    shown = grown[:SHOWN_PARTS]
    rest = sum(new.values()) - sum(old.values()) - sum(more[kind] for kind in shown)
    return [
        f"{words}, what was added:",
        *(
            f"{more[kind]:+12,.{digits}f}  {kind} "
            f"({old.get(kind, 0.0):,.{digits}f} -> {new[kind]:,.{digits}f})"
            for kind in shown
        ),
        f"{rest:+12,.{digits}f}  all others, less what fell",
    ]


def _kinds(trials: Sequence[GateTrial], name: str) -> dict[str, float]:
    """The median of each kind of a figure."""
    names = dict.fromkeys(each for trial in trials for each in trial.figures)
    return {
        each.removeprefix(f"{name}."): middle(trials, each) or 0.0
        for each in names
        if each.startswith(f"{name}.")
    }


def _host_lines(before: Sequence[GateTrial], now: Sequence[GateTrial]) -> list[str]:
    """How fast the host was, compared with the baseline's; nothing is corrected for it.

    The server itself may slow what is timed, so the times do not tell whose fault it is.
    """
    sides = {what: (middle(before, name), middle(now, name)) for name, what in HOST.items()}
    return [
        f"{what} took {new / old - 1:+.1%} time compared with the baseline."
        for what, (old, new) in sides.items()
        if old and new
    ]


def distributions(figure: Judged, wanted: Spread, now: Spread, limit: float) -> list[str]:
    """Both samples on one scale: a digit is a number of trials, | is the required minimum."""
    floor = limit * (wanted.median or 0.0)
    values = [*wanted.values, *now.values, floor]
    low, high = min(values), max(values)

    def place(value: float) -> int:
        return round((value - low) / ((high - low) or 1.0) * (PLOT_WIDTH - 1))

    rows = [f"{figure.unit}, {low:,.0f} to {high:,.0f}; | is the required minimum"]
    for name, each in (("wanted", wanted), ("now", now)):
        marks = [" "] * PLOT_WIDTH
        marks[place(floor)] = "|"
        counts = [place(value) for value in each.values]
        for at in set(counts):
            marks[at] = str(min(9, counts.count(at)))
        rows.append(f"  {name:<8} [{''.join(marks)}] median {each.median or 0:,.0f}")
    return rows
