"""The report's figures: each drawn from stored results alone, with units, intervals and a key.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish; lines also have
different markers, so that a grey print is readable.
"""

from stackcost.report.plots.cpu import (
    cores_by_kind,
    cost_by_system,
    cost_over_payload,
    cost_over_workers,
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
from stackcost.report.plots.factors import factor_intervals
from stackcost.report.plots.flame import Drawing, differential_flame, flame
from stackcost.report.plots.latency import latency_over_time
from stackcost.report.plots.load import ceilings_found
from stackcost.report.plots.memory import (
    memory_by_state,
    memory_by_system,
)
from stackcost.report.plots.paths import waterfall

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
