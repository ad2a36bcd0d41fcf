"""The report's figures: each drawn from stored results alone, with units, intervals and a key.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish; lines also have
different markers, so that a grey print is readable.
"""

from stackcost.report.plots.costs import (
    cores_by_kind,
    cost_by_system,
    cost_over_payload,
    cost_over_workers,
    factor_intervals,
    memory_by_state,
    memory_by_system,
    waterfall,
)
from stackcost.report.plots.drawing import (
    OTHER_COLOUR,
    SERVER_COLOURS,
    WIDTH,
    as_svg,
    bars,
    key,
    labels,
    largest,
    lying,
    medians,
    over_each_other,
    panels,
    plain_numbers,
    save,
    styles,
    title,
    whiskers,
)
from stackcost.report.plots.flame import Drawing, differential_flame, flame
from stackcost.report.plots.load import ceilings_found, latency_over_time

__all__ = [
    "OTHER_COLOUR",
    "SERVER_COLOURS",
    "WIDTH",
    "Drawing",
    "as_svg",
    "bars",
    "ceilings_found",
    "cores_by_kind",
    "cost_by_system",
    "cost_over_payload",
    "cost_over_workers",
    "differential_flame",
    "factor_intervals",
    "flame",
    "key",
    "labels",
    "largest",
    "latency_over_time",
    "lying",
    "medians",
    "memory_by_state",
    "memory_by_system",
    "over_each_other",
    "panels",
    "plain_numbers",
    "save",
    "styles",
    "title",
    "waterfall",
    "whiskers",
]
