"""The rows of tables about events of a device under test, and mixed traffic through it."""

from collections.abc import Iterator

from stackcost.analysis.events.summary import EventResult, EventSummary
from stackcost.frames.rows import Row


def events(summary: EventSummary) -> Iterator[Row]:
    """One row for each event."""
    for each in summary.events:
        yield {
            **_head(summary, each),
            "before": each.before,
            "after": each.after,
            "lost_established": each.lost_established,
            "first_failure_s": each.first_failure,
            "recovered_s": each.recovered,
            "tracking": ", ".join(f"{name} {count:,}" for name, count in each.tracking.items()),
            "lost_inside": None if each.lost is None else each.lost["inside"],
        }


def event_series(summary: EventSummary) -> Iterator[Row]:
    """The series over time of each event."""
    for each in summary.events:
        head = _head(summary, each)
        for name, points in each.series.items():
            for at, value in points:
                yield {**head, "series": name, "seconds": at, "value": value}


def mixes(summary: EventSummary) -> Iterator[Row]:
    """The lossless share of each application at each step of mixed traffic."""
    for mix in summary.mixes:
        for number, step in enumerate(mix.steps, 1):
            for group, whole in step.whole.items():
                yield {
                    "run": summary.run,
                    "system": mix.server,
                    "step": number,
                    "asked": step.flows_per_second,
                    "begun": step.started,
                    "application": group,
                    "whole": whole,
                }


def _head(summary: EventSummary, event: EventResult) -> Row:
    at = event.full_at if event.cut_at is None else event.cut_at
    return {"run": summary.run, "system": event.server, "event": event.event, "at_s": at}
