"""A run's figures as one long table for other programs: a row for each value that was measured."""

import json
from typing import Literal

import pandas

from stackcost.analysis.head import Head, definition
from stackcost.report.answer import computed
from stackcost.store import RunFolder

COLUMNS = (
    "run",
    "system",
    "figure",
    "offered_cps",  # the load, 1/s; empty for memory, ceilings and events
    "repeat",  # from 1, in the order measured
    "value",  # empty when unknown
    "unit",
    "reason",  # why it is unknown
    "definition",
    "source",
)


def encode(run: RunFolder, form: Literal["csv", "parquet", "json"]) -> bytes:
    """The table in one of the formats; JSON is a list of objects with the columns as keys."""
    frame = table(computed(run))
    if form == "csv":
        return frame.to_csv(index=False).encode()
    if form == "parquet":
        return bytes(frame.to_parquet(index=False))
    rows = json.loads(frame.to_json(orient="records"))
    return (json.dumps(rows, indent=1) + "\n").encode()


def table(summary: Head) -> pandas.DataFrame:
    """All values of all figures. An unknown figure has one row, with its reason.

    Of each load first how many connections or requests failed: the others are of the rest.
    """
    rows = []
    for figure in summary.system_figures():
        what = definition(figure.name, summary.definitions)
        for repeat, value in enumerate(figure.spread.values or [None], start=1):
            rows.append(
                (
                    summary.run,
                    figure.system,
                    figure.name,
                    figure.at,
                    repeat,
                    value,
                    figure.spread.unit,
                    figure.spread.reason if value is None else "",
                    what.definition if what else "",
                    what.source if what else "",
                )
            )
    return pandas.DataFrame(rows, columns=list(COLUMNS))
