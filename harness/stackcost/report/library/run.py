"""Stored runs, opened: their tables."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Self, TypeAlias

import pandas

from stackcost.analysis.readings import Readings
from stackcost.contracts.errors import StackcostError
from stackcost.report.difference import Difference, differences_from_first
from stackcost.report.library import export, rows
from stackcost.report.library.columns import TABLES, YES_OR_NO
from stackcost.report.published.document import Document, documents
from stackcost.report.published.match import matches
from stackcost.report.results.computed import current
from stackcost.report.results.opened import OpenedRuns, named_runs, stored_summary
from stackcost.report.sampled import sampled_trials
from stackcost.store import RunFolder

RESULTS = Path("results")
Rows: TypeAlias = Iterator[rows.Row]


@dataclass(frozen=True)
class Run:
    """One stored run, or several side by side, as tidy tables: one row for each value.

    `opened`: their summaries. `folders`: their folders. An unknown value is NaN, and `reason` says
    why.
    """

    opened: OpenedRuns
    folders: Sequence[RunFolder]

    @classmethod
    def open(cls, runs: Sequence[str | PathLike[str]]) -> Self:
        """Open a stored run, as `stackcost.open` does."""
        folders = [RunFolder.open(_place(Path(each))) for each in runs or named_runs()]
        opened = OpenedRuns()
        for folder in folders:
            # Of a run that is kept without its trials there is what was computed from them.
            summary = current(folder) if folder.count() else stored_summary(folder)
            opened.add(folder.manifest(), summary)
        return cls(opened, folders)

    @cached_property
    def figures(self) -> pandas.DataFrame:
        """Every figure of every system, in each round: what `stackcost export` writes."""
        opened = self.opened
        others = (run.summary for runs in (opened.ceilings, opened.events) for run in runs)
        return export.table(*opened.summaries, *others)

    def kinds(self, figure: str) -> pandas.DataFrame:
        """The rows of `figures` below a name, of "server_cpu" those of "server_cpu.user" and so on.

        Another column, `kind`, has what comes after that name.
        """
        start = f"{figure}."
        below = self.figures[self.figures["figure"].str.startswith(start)]
        return below.assign(kind=below["figure"].str.removeprefix(start))

    @property
    def latency(self) -> pandas.DataFrame:
        """The kinds of the figure "latency", percentiles of the times of connections, in us."""
        found = self.kinds("latency")
        parts = found["kind"].str.extract(r"^(?:(.*)\.)?([^.]+)\.(max|p[\d.]+)$").fillna("")
        return found.assign(group=parts[0], kind=parts[1], percentile=parts[2])

    @property
    def why(self) -> pandas.DataFrame:
        """CPU time per connection by what was done, and on whose behalf, in each trial.

        From the trials themselves, so it takes some seconds. A trial without a breakdown has one
        row, with the reason.
        """
        return _frame("why", self._of_sampled(rows.why))

    @property
    def counts(self) -> pandas.DataFrame:
        """Instructions per connection by task, mode and function, in each counted trial.

        From the trials themselves. A run that was timed has no rows.
        """
        return _frame("counts", self._of_sampled(rows.counts))

    @property
    def memory_points(self) -> pandas.DataFrame:
        """Bytes at each number of open flows: the points of `memory.per_flow`."""
        return _frame("memory_points", map(rows.memory_points, self.opened.summaries))

    def merged_latency(self, *percentiles: float) -> pandas.DataFrame:
        """Percentiles of the times of all rounds together: their histograms are added.

        `percentiles`: such as 99.9; none for 50, 90, 99, 99.9 and 100. One that few connections of
        `timed` are beyond is little more than chance.
        """
        wanted = percentiles or (50.0, 90.0, 99.0, 99.9, 100.0)
        return _frame("merged_latency", self._of_used(rows.merged_latency, wanted))

    @property
    def latency_over_time(self) -> pandas.DataFrame:
        """How long connections took in each second of each trial of loads by profiles."""
        return _frame("latency_over_time", self._of_used(rows.latency_over_time))

    @property
    def trials(self) -> pandas.DataFrame:
        """All trials, with their flags, and the reasons why some are not used."""
        steps = (rows.steps(run.summary) for run in self.opened.ceilings)
        return _frame("trials", chain(map(rows.trials, self.opened.summaries), steps))

    @property
    def tests(self) -> pandas.DataFrame:
        """The figures of HTTP clients in each test, over workers or cores, in each round."""
        return _frame("tests", map(rows.tests, self.opened.tested))

    @property
    def http_costs(self) -> pandas.DataFrame:
        """What a request, a connection and the parts of TLS cost, in each round."""
        return _frame("http_costs", map(rows.http_costs, self.opened.tested))

    @property
    def checks(self) -> pandas.DataFrame:
        """The checks of each trial and their results; criteria of RFC 9411."""
        return _frame("checks", map(rows.checks, self.opened.summaries))

    @property
    def factors(self) -> pandas.DataFrame:
        """The cost factors between two systems, in each round and over all rounds."""
        return _frame("factors", map(rows.factors, self.opened.summaries))

    @property
    def comparisons(self) -> pandas.DataFrame:
        """The first run compared with each other run: every common figure."""
        return _frame("comparisons", map(rows.comparisons, self.differences))

    @cached_property
    def differences(self) -> Sequence[Difference]:
        """The differences behind `comparisons` and the report's sentences."""
        return differences_from_first(self.opened)

    @property
    def event_series(self) -> pandas.DataFrame:
        """Rates and levels over time in each event."""
        found = (rows.event_series(each.summary) for each in self.opened.events)
        return _frame("event_series", found)

    @cached_property
    def documents(self) -> Sequence[Document]:
        """The publications, with their tables as printed."""
        return list(documents().values())

    @property
    def published(self) -> pandas.DataFrame:
        """Every number of the publications' tables whose row begins with a number."""
        return _frame("published", [rows.published(self.documents)])

    @property
    def published_matches(self) -> pandas.DataFrame:
        """Our figures for each published measurement, or why there are none."""
        found = (
            rows.published_matches(each, matches(each, self.opened)) for each in self.documents
        )
        return _frame("published_matches", found)

    def samples(self, *metrics: str, trials: Collection[int] | None = None) -> pandas.DataFrame:
        """The samples of the trials, of some metrics ("cpu.exact_time") or of all.

        `trials`: their numbers, None for all. Reading all takes some seconds.
        """
        found = (
            rows.samples(run, before + trial.server, trial, metrics)
            for folder, run, before in self._numbered()
            for trial in folder.trials(trials)
        )
        return _frame("samples", found)

    def _of_sampled(self, make: Callable[[str, str, Readings], Rows]) -> Iterator[Rows]:
        for folder, run, before in self._numbered():
            for readings in sampled_trials(folder):
                yield make(run, before + readings.trial.server, readings)

    def _of_used(self, make: Callable[..., Rows], *more: object) -> Iterator[Rows]:
        for folder, run, before in self._numbered():
            used = (trial for trial in folder.trials() if not trial.set_aside)
            yield make(run, before, used, *more)

    def _numbered(self) -> Iterator[tuple[RunFolder, str, str]]:
        """The folders, each with its run's name, and with what stands before its systems' names if
        there are several.
        """
        numbers = {run.manifest.run: n for n, run in enumerate(self.opened.costs, 1)}
        for folder in self.folders:
            name = folder.manifest().run
            number = numbers.get(name)
            yield folder, name, f"run {number}: " if len(numbers) > 1 and number else ""

    def columns(self, table: str = "") -> pandas.DataFrame:
        """Unit and definition of each column of a table ("figures"), or of all tables."""
        if table and table not in TABLES:
            raise StackcostError(f"there is no table {table!r}", f"one of {', '.join(TABLES)}")
        found = [
            {"table": name, "column": column, **about._asdict()}
            for name, columns in TABLES.items()
            if table in ("", name)
            for column, about in columns.items()
        ]
        return pandas.DataFrame(found)

    def __repr__(self) -> str:
        return f"<stackcost run {', '.join(folder.name for folder in self.folders)}>"


def _frame(table: str, found: Iterable[Rows]) -> pandas.DataFrame:
    frame = pandas.DataFrame(list(chain.from_iterable(found)), columns=list(TABLES[table]))
    for name, column in TABLES[table].items():
        if column.unit == YES_OR_NO:
            frame[name] = frame[name].astype(bool)
        elif column.unit:
            known = frame[name].astype(float) if frame.empty else frame[name]
            frame[name] = pandas.to_numeric(known)
    return frame


def _place(run: Path) -> Path:
    """A run's folder by its path, or by its name in the results of the current folder."""
    return RESULTS / run if not run.exists() and (RESULTS / run).is_dir() else run
