"""The stored runs of a report, for the notebooks."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.device.event_summary import EventSummary
from stackcost.analysis.summary import Factor, ServerResult, Summary, TrialRow
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.system import System
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import MeasuredKind

AnySummary: TypeAlias = Summary | CeilingSummary | EventSummary
FORMS: dict[MeasuredKind, type[AnySummary]] = {
    "costs": Summary,
    "ceilings": CeilingSummary,
    "events": EventSummary,
}
NAMED = "STACKCOST_RUNS"  # environment: the folders that `stackcost lab` was given


Kind = TypeVar("Kind", bound=AnySummary)


@dataclass(frozen=True)
class OpenedRun(Generic[Kind]):
    """A stored run: its manifest, and its summary of costs, ceilings or events."""

    manifest: Manifest
    summary: Kind


OpenedCosts: TypeAlias = OpenedRun[Summary]
OpenedCeilings: TypeAlias = OpenedRun[CeilingSummary]


@dataclass(frozen=True, slots=True)
class OpenedRuns:
    """Runs by kind, in the given order."""

    costs: list[OpenedCosts] = field(default_factory=list)
    ceilings: list[OpenedCeilings] = field(default_factory=list)
    events: list[OpenedRun[EventSummary]] = field(default_factory=list)

    @property
    def summaries(self) -> list[Summary]:
        """The summaries of runs at given loads; with several, names begin with the run's number."""
        own = [run.summary for run in self.costs]
        if len(own) < 2:
            return own
        return [_numbered(summary, f"run {number}: ") for number, summary in enumerate(own, 1)]

    @property
    def servers(self) -> list[ServerResult]:
        """All systems of all runs, except those of HTTP tests, which are in `tested`."""
        return [s for summary in self.summaries if not summary.has_tests for s in summary.servers]

    @property
    def tested(self) -> list[Summary]:
        """Runs of HTTP tests."""
        return [summary for summary in self.summaries if summary.has_tests]

    @property
    def have_profile_loads(self) -> bool:
        """Whether a run has costs at loads of ASTF profiles, and not only tests of HTTP clients."""
        return len(self.costs) > len(self.tested)

    def add(self, manifest: Manifest, summary: AnySummary) -> None:
        """Add a run with its summary."""
        if isinstance(summary, CeilingSummary):
            self.ceilings.append(OpenedRun(manifest, summary))
        elif isinstance(summary, EventSummary):
            self.events.append(OpenedRun(manifest, summary))
        else:
            self.costs.append(OpenedRun(manifest, summary))

    def factors(self, name: Literal["cpu", "memory"]) -> list[Factor]:
        """All factors of this name of all runs."""
        return [each for summary in self.summaries for each in summary.factors if each.name == name]


def _numbered(summary: Summary, number: str) -> Summary:
    """A summary with `number` before the name of every system."""

    def named(part: System | TrialRow | Factor, *fields: str) -> Any:
        return part.model_copy(update={each: number + getattr(part, each) for each in fields})

    return summary.model_copy(
        update={
            "servers": [named(server, "name", "server") for server in summary.servers],
            "factors": [named(factor, "baseline", "against") for factor in summary.factors],
            "trials": [named(trial, "server") for trial in summary.trials],
            "tuning": {number + name: changes for name, changes in summary.tuning.items()},
            "not_measured": [named(each, "name", "server") for each in summary.not_measured],
            "tests_not_measured": {
                number + name: why for name, why in summary.tests_not_measured.items()
            },
        }
    )


def named_runs() -> list[Path]:
    """The runs that were given to `stackcost lab`; StackcostError if there are none."""
    found = [Path(path) for path in os.environ.get(NAMED, "").split(os.pathsep) if path]
    if not found:
        raise StackcostError(
            "no run was given", "set it in the first cell: runs = ['../results/<run>']"
        )
    return found


def open_runs(paths: Sequence[str | Path] = ()) -> OpenedRuns:
    """The runs in these folders, from their stored summaries; without any, those that the command
    which opened the notebooks was given. StackcostError when there is none, or none to be read.
    """
    found = OpenedRuns()
    for path in paths or named_runs():
        folder = RunFolder.open(Path(path))
        found.add(folder.manifest(), stored_summary(folder))
    return found


def stored_summary(folder: RunFolder) -> AnySummary:
    """A run's stored summary, current or not; StackcostError if it cannot be read."""
    form, stored = FORMS[folder.manifest().kind], folder.summary()
    try:
        return form.model_validate(stored)
    except ValueError as error:
        raise StackcostError(
            f"another version of stackcost wrote the summary of {folder.path}",
            f"to compute it again: stackcost report {quote(str(folder.path))}",
        ) from error
