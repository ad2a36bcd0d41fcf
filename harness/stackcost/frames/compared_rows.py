"""The rows of comparisons: systems of a run, runs, and publications with our figures."""

from collections.abc import Iterator, Sequence

from stackcost.analysis.figures.registry import is_judged
from stackcost.analysis.spread import bounds
from stackcost.analysis.summary import Summary
from stackcost.frames.rows import Row, rounds
from stackcost.published.document import Document
from stackcost.published.match import PublishedMatch
from stackcost.report.difference import Difference


def factors(summary: Summary) -> Iterator[Row]:
    """Each factor in every round, with its ratio over all rounds."""
    for found in summary.factors:
        low, high = bounds(found.ratio) or (None, None)
        head = {
            "run": summary.run,
            "factor": found.name,
            "baseline": found.baseline,
            "against": found.against,
            "at": found.at,
            "baseline_cost": found.baseline_cost.median,
            "against_cost": found.against_cost.median,
            "median": found.ratio.median,
            "low": low,
            "high": high,
        }
        yield from ({**head, **each} for each in rounds(found.ratio, "ratio"))


def comparisons(found: Difference) -> Iterator[Row]:
    """Every figure that two runs have in common."""
    for each in found.comparisons:
        yield {
            "a": found.a,
            "b": found.b,
            "figure": each.figure,
            "at": each.at,
            "judged": is_judged(each.figure) and each.verdict != "not judged",
            "a_median": each.a.median,
            "b_median": each.b.median,
            "unit": each.unit,
            "ratio": each.ratio,
            "low": each.low,
            "high": each.high,
            "coverage": each.coverage,
            "effect": each.effect,
            "p": each.p_corrected,
            "verdict": each.verdict,
            "different": each.differs,
            "reason": each.reason,
        }


def published(documents: Sequence[Document]) -> Iterator[Row]:
    """Every printed number of the publications' tables whose row begins with a number."""
    for document in documents:
        for table in document.tables:
            for column in table.columns:
                for x, value in table.points(column):
                    yield {
                        "document": document.title,
                        "table": table.name,
                        "title": table.title,
                        "shape": table.shape or "",
                        "column": column,
                        "x_name": table.x,
                        "x": x,
                        "value": value,
                        "unit": table.unit,
                        "better": table.better or "",
                    }


def published_matches(document: Document, found: Sequence[PublishedMatch]) -> Iterator[Row]:
    """Our figures for a publication's tables."""
    for each in found:
        known = each.value is not None
        yield {
            "document": document.title,
            "table": each.table,
            "column": each.column,
            "x": each.x,
            "unit": each.unit,
            "published": each.published,
            "what": each.what,
            "value": each.value,
            "low": each.low if known else None,
            "high": each.high if known else None,
            "ratio": each.ratio,
            "published_gain": each.published_gain,
            "gain": each.gain,
            "reason": each.reason,
        }
