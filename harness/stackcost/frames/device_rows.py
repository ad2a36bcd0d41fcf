"""The rows of tables about ceilings, events of a device under test, and mixed traffic."""

from collections.abc import Iterator

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.events.summary import EventResult, EventSummary
from stackcost.frames.rows import Row, figure_rows


def ceilings(summary: CeilingSummary) -> Iterator[Row]:
    """Every figure of every system's searches, in each search."""
    for system, own in summary.found.items():
        yield from figure_rows({"run": summary.run, "system": system}, own.figures)


def events(summary: EventSummary) -> Iterator[Row]:
    """Every figure of every event."""
    for each in summary.events:
        yield from figure_rows(_head(summary, each), each.figures)


def event_series(summary: EventSummary) -> Iterator[Row]:
    """The series over time of each event."""
    for each in summary.events:
        head = _head(summary, each) | {"at_s": each["event.at"].median}
        for name, points in each.series.items():
            for at, value in points:
                yield {**head, "series": name, "seconds": at, "value": value}


def mixes(summary: EventSummary) -> Iterator[Row]:
    """Every figure of every step of mixed traffic, then those of all steps."""
    for mix in summary.mixes:
        head = {"run": summary.run, "system": mix.server}
        for number, step in enumerate(mix.steps, 1):
            own = {**head, "step": number, "asked": step.flows_per_second}
            yield from figure_rows(own, step.figures)
        yield from figure_rows({**head, "step": None, "asked": None}, mix.figures)


def _head(summary: EventSummary, event: EventResult) -> Row:
    return {"run": summary.run, "system": event.server, "event": event.event}
