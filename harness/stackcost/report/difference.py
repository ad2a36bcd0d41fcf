"""The differences between two runs, or between two systems of a run, as data and as a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.comparing.between_runs import ASSUMED, blocks_of
from stackcost.analysis.comparing.comparison import Comparison, Question, compare_all
from stackcost.analysis.comparing.machines import differences
from stackcost.analysis.comparing.system_series import (
    SystemFigures,
    figures_of,
    questions,
    together,
)
from stackcost.analysis.cost.guest import marks_among
from stackcost.analysis.figures.registry import is_judged
from stackcost.analysis.head import Head
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.thresholds import RATE
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import rate_words
from stackcost.report.flags import failures, mostly_disturbed
from stackcost.report.results.computed import computed
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.results.stored import hosts_of
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, change_of, verdict_of, with_range
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import moment

LONG_LISTS = ("interrupts.", "kernel.merged_slab_caches.")
PARTS = (
    *("server_cpu.", "softirq.", "threads."),
    *("memory.per_flow.", "memory.caches.", "memory.owners."),
)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a run, and further runs of the same. `system`: empty for all
    systems of the run.
    """

    manifest: Manifest
    summary: Head
    system: str
    further: tuple["Side", ...] = ()

    @classmethod
    def of(cls, text: str, run_of: str = "") -> Self:
        """From "RUN", "RUN,RUN,RUN" for several, either with "#SYSTEM" after it, or "#SYSTEM" alone
        of the runs that `run_of` names.
        """
        paths, _, system = text.partition("#")
        first, *further = (
            cls._of_run(Path(path), system)
            for path in (paths or run_of.partition("#")[0]).split(",")
        )
        return replace(first, further=tuple(further))

    @classmethod
    def _of_run(cls, path: Path, system: str) -> Self:
        run = RunFolder.open(path)
        side = cls(run.manifest(), computed(run), system)
        names = side.summary.systems
        if system and system not in names:
            raise StackcostError(f"{run.path} has no system {system!r}", f"choose one of {names}")
        return side

    @property
    def runs(self) -> tuple["Side", ...]:
        """All of its runs."""
        return self, *self.further

    @property
    def began(self) -> list[datetime]:
        """When each run began."""
        found = []
        for run in self.runs:
            try:
                found.append(moment(run.manifest.started))
            except ValueError as error:
                raise StackcostError(
                    f"the manifest of {run.manifest.run} does not say when it began"
                ) from error
        return found

    def figures(self, system: str, blocks: Sequence[int]) -> SystemFigures:
        """Figures of a system, of all runs together. `blocks`: of each run."""
        return together([figures_of(run.summary, system) for run in self.runs], blocks)


class Difference(BaseModel):
    """The result of `stackcost diff`. `rate`: how often identical set-ups are called different.
    `apart`: by how much two runs of one system may differ, and how that is known; empty if A and B
    are of one run. The rate holds if they do not differ by more.

    `busy`: of each side most trials of which were disturbed, that the machine was not quiet.
    `failures`: what was not served as asked, of which the figures say nothing. `flagged`: flagged
    trials of A and B. `machine`: differences of the machine, and of the other
    hosts of the test bed. `guests`: which side was measured in a guest. `set_aside`: what
    is not in the judged figures, as text.
    `not_compared`: figures that could not be compared, and why.
    """

    model_config = ConfigDict(frozen=True)

    a: str
    b: str
    rate: float = RATE
    apart: str = ""
    comparisons: list[Comparison]
    busy: list[str] = []
    failures: list[str] = []
    flagged: tuple[int, int]
    machine: list[str]
    guests: list[str] = []
    set_aside: list[str] = []
    not_compared: list[str] = []


def difference(a: Side, b: Side) -> Difference:
    """Compare the common figures; StackcostError if there are none."""
    systems = _systems(a, b)
    same_run = a.manifest == b.manifest and not a.further and not b.further
    # Of one run a side it does not matter when they began.
    several = a.further or b.further
    blocks_a, blocks_b = blocks_of(a.began, b.began) if several else ([0], [1])
    asked = [
        each
        for of_a, of_b in systems
        for each in questions(
            a.figures(of_a, blocks_a),
            b.figures(of_b, blocks_b),
            label="" if len(systems) == 1 else f"{of_a}: ",
            same_run=same_run,
        )
    ]
    found = compare_all(asked)
    if not found:
        raise StackcostError(
            "the two sides have no common figure at the same load: "
            f"A has {_has(a)}; B has {_has(b)}",
            "measure both by one experiment file, or name a system of each: "
            "stackcost diff RUN_A#SYSTEM RUN_B#SYSTEM",
        )
    mine, theirs = [of_a for of_a, _ in systems], [of_b for _, of_b in systems]
    runs = [
        (letter, run.summary, names)
        for letter, side, names in (("A", a, mine), ("B", b, theirs))
        for run in side.runs
    ]
    costs = [(letter, each, names) for letter, each, names in runs if isinstance(each, Summary)]
    return Difference(
        a=_name(a, mine),
        b=_name(b, theirs),
        apart="" if same_run else _apart(asked),
        comparisons=found,
        busy=[
            f"{letter}: {words}"
            for letter, summary, names in costs
            if (words := mostly_disturbed(summary, names))
        ],
        failures=[
            f"{letter}: {line}"
            for letter, summary, names in costs
            for line in failures(summary, names)
        ],
        flagged=(_flagged(a, set(mine)), _flagged(b, set(theirs))),
        machine=_other_differences(a.manifest, b.manifest, systems),
        guests=list(
            dict.fromkeys(
                f"{letter}: {mark}"
                for letter, summary, _ in runs
                for each in summary.used_trials()
                for mark in marks_among(each.flags)
            )
        ),
        set_aside=[
            f"{each.figure} at {each.at}: {'; '.join(each.set_aside)}"
            for each in found
            if each.set_aside and each.verdict != "not judged"
        ],
        not_compared=[
            line for of_a, of_b in systems if (line := _no_common_load(a, of_a, b, of_b))
        ],
    )


def _other_differences(a: Manifest, b: Manifest, systems: list[tuple[str, str]]) -> list[str]:
    """What the machines differ in; of counted systems, which no machine changes, their guests."""
    guests = [(guest_of(a, of_a), guest_of(b, of_b)) for of_a, of_b in systems]
    if all(one and other for one, other in guests):
        found = [line for one, other in guests for line in differences(one, other)]
        return list(dict.fromkeys(found))
    return [*differences(a.machine, b.machine), *_between_hosts(a, b)]


def guest_of(manifest: Manifest, system: str) -> dict[str, Any]:
    """What a count may depend on; empty for a system that was timed."""
    conditions = manifest.test_bed.get(system, {}).get("counted")
    if not conditions:
        return {}
    kept = {name: each for name, each in conditions.items() if name != "command"}
    return kept | {"program": manifest.servers.get(system, {}).get("program")}


def _between_hosts(a: Manifest, b: Manifest) -> list[str]:
    """What hosts of the same name differ in, or the only two, whatever their names are."""
    old, new = hosts_of(a), hosts_of(b)
    names = [(name, name) for name in old if name in new]
    if not names and len(old) == len(new) == 1:
        names = list(zip(old, new, strict=True))
    return [
        f"host {' and '.join(dict.fromkeys((one, other)))}: {line}"
        for one, other in names
        for line in _in_short(differences(old[one], new[other]))
    ]


def _in_short(lines: list[str]) -> list[str]:
    """The lines with one for each long list, whose order another kernel changes as a whole."""
    kept = [line for line in lines if not line.startswith(LONG_LISTS)]
    for name in LONG_LISTS:
        if many := sum(line.startswith(name) for line in lines):
            kept.append(f"{name[:-1]}: {many} differences, see both manifest.json")
    return kept


def _no_common_load(a: Side, of_a: str, b: Side, of_b: str) -> str:
    """Why CPU cannot be compared: there is no common load. Otherwise empty.

    What a connection costs depends on the load, so shares of two ceilings are not the same load.
    """
    loads = [
        set.intersection(*(_loads(run.summary, name) for run in side.runs))
        for side, name in ((a, of_a), (b, of_b))
    ]
    if not all(loads) or loads[0] & loads[1]:
        return ""
    one, other = (", ".join(rate_words(load) for load in sorted(each)) for each in loads)
    return (
        f"CPU per connection: A measured {of_a} at {one} connections/s, B {of_b} at {other}; set "
        "the same load.offered_cps for both"
    )


def _loads(summary: Head, system: str) -> set[float]:
    found = (each.at for each in summary.system_figures() if each.system == system)
    return {at for at in found if at is not None}


def differences_from_first(runs: OpenedRuns) -> list[Difference]:
    """The first run compared with each other run, except runs without a common load."""
    sides = [Side(run.manifest, run.summary, "") for run in runs.costs]
    found = []
    for other in sides[1:]:
        try:
            found.append(difference(sides[0], other))
        except StackcostError:
            continue
    return found


def parts_of(found: Difference) -> Difference:
    """The difference in the parts of judged figures: kinds of time, vectors, threads, caches."""
    kept = [
        each
        for each in found.comparisons
        if each.figure.rpartition(": ")[2].startswith(PARTS) and each.ratio is not None
    ]
    return found.model_copy(update={"comparisons": kept})


def difference_table(found: Difference, everything: bool) -> TextTable:
    """The main figures, judged and at each load; with `everything` all figures."""
    rows: list[tuple[str, ...]] = [
        (
            each.figure,
            each.at,
            f"{with_range(each.a)} {each.unit if each.unit != '1' else ''}".strip(),
            with_range(each.b),
            change_of(each),
            UNKNOWN if each.effect is None else f"{each.effect:+.2f}",
            "" if each.p_corrected is None else f"{each.p_corrected:.2g}",
            verdict_of(each),
        )
        for each in found.comparisons
        if everything or is_judged(each.figure)
    ]
    return TextTable(
        f"A: {found.a}\nB: {found.b}",
        ("figure", "at", "A", "B", "B / A (interval)", "effect", "p (Holm)", "verdict"),
        rows,
    )


def sentence(found: Difference) -> str:
    """The result in one sentence."""
    judged = [each for each in found.comparisons if each.p_corrected is not None]
    counted = [each for each in found.comparisons if each.counted and each.verdict != "not judged"]
    if counted and not judged:
        return _of_counts(counted)
    differing = [each for each in judged if each.differs]
    unsure = [each for each in judged if each.verdict == "cannot tell"]
    if differing:
        return f"different: {_changes(differing)}{_if_apart(found)}"
    if unsure:
        return f"cannot tell: {_changes(unsure)}; {unsure[0].reason}"
    if judged:
        return (
            f"no difference shown in {len(judged)} figures, at a false positive rate of "
            f"{found.rate:.0%}{_if_apart(found)}"
        )
    return "no result: there are too few trials, or none of the judged figures was measured"


def _of_counts(counted: list[Comparison]) -> str:
    found: dict[str, list[Comparison]] = {}
    for each in counted:
        answer = "different" if each.differs else each.verdict
        found.setdefault(f"{answer}: {{}}; {each.reason}", []).append(each)
    return ". ".join(words.format(_changes(each)) for words, each in found.items())


def _changes(comparisons: list[Comparison]) -> str:
    return "; ".join(f"{each.figure} at {each.at} {change_of(each)}" for each in comparisons)


def _if_apart(found: Difference) -> str:
    """On what the rate rests if A and B are of two runs."""
    return f", if runs of one system differ by at most {found.apart}" if found.apart else ""


def _apart(asked: Sequence[Question]) -> str:
    """By how much A and B of one system may be apart, in words: the most of the judged figures.

    Empty if all of them are counts.
    """
    if all(each.design.counted for each in asked if each.judged):
        return ""
    known = [each.design.between for each in asked if each.judged and each.design.between]
    return max(known, key=lambda each: each.apart, default=ASSUMED).words


def _has(side: Side) -> str:
    """What a side measured of which systems, at which loads: what another one has to have, too."""
    loads = {each.at for each in side.summary.system_figures() if each.at is not None}
    at = f" at {', '.join(map(rate_words, sorted(loads)))}/s" if loads else ""
    names = side.system or ", ".join(side.summary.systems)
    return f"{side.manifest.kind} of {names or 'no system'}{at}"


def _systems(a: Side, b: Side) -> list[tuple[str, str]]:
    """Which system is compared with which; by their names when none is named."""
    if a.system or b.system:
        return [(a.system or b.system, b.system or a.system)]
    theirs = b.summary.systems
    return [(name, name) for name in a.summary.systems if name in theirs]


def _name(side: Side, systems: list[str]) -> str:
    names = ", ".join(run.summary.run for run in side.runs)
    return f"{names}, {' and '.join(systems)}"


def _flagged(side: Side, systems: set[str]) -> int:
    used = (each for run in side.runs for each in run.summary.used_trials())
    return sum(bool(trial.flags) for trial in used if trial.system in systems)
