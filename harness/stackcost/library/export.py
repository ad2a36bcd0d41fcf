"""A run's figures as one long table, of `import stackcost` and for other programs."""

import json
from typing import Any, Literal

import pandas

from stackcost.analysis.head import Head, definition
from stackcost.library.columns import FIGURES
from stackcost.library.rows import Row, rounds
from stackcost.results.computed import computed
from stackcost.store import RunFolder


def encode(run: RunFolder, form: Literal["csv", "parquet", "json"]) -> bytes:
    """The table in one of the formats; JSON is a list of objects with the columns as keys."""
    frame = table(computed(run))
    if form == "csv":
        return frame.to_csv(index=False).encode()
    if form == "parquet":
        return bytes(frame.to_parquet(index=False))
    rows = json.loads(frame.to_json(orient="records"))
    return (json.dumps(rows, indent=1) + "\n").encode()


def table(*summaries: Head) -> pandas.DataFrame:
    """A row for each value of each figure. An unknown figure has one row, with its reason.

    Of each load first how many connections or requests failed: the others are of the rest.
    """
    found: list[Row] = []
    for summary in summaries:
        for each in summary.system_figures():
            what = definition(each.figure, summary.definitions)
            head = {
                "run": summary.run,
                "system": each.system,
                "case": each.case,
                "figure": each.figure,
                "offered_cps": each.at,
                "unit": each.spread.unit,
                "quoted": each.quoted,
                "past_ceiling": each.past_ceiling,
                "definition": what.definition if what else "",
                "source": what.source if what else "",
            }
            found += ({**head, **last} for last in rounds(each.spread))
    kinds: dict[str, Any] = {"offered_cps": float, "round": "Int64", "value": float, "quoted": bool}
    return pandas.DataFrame(found, columns=list(FIGURES)).astype(kinds)
