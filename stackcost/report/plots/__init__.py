"""The report's figures: each drawn from stored results alone, with units, intervals and a key.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers; lines differ by
marker too, so that a print in grey can be read.
"""

from stackcost.report.plots.cpu import (
    cores_by_kind,
    cost_by_system,
    cost_over_payload,
    cost_over_workers,
)
from stackcost.report.plots.differences import ratios
from stackcost.report.plots.drawing import (
    SERVER_COLOURS,
    WIDTH,
    as_svg,
    bars,
    key,
    labels,
    largest,
    looks,
    lying,
    panels,
    plain_numbers,
    save,
)
from stackcost.report.plots.factors import factor_intervals, factor_steps
from stackcost.report.plots.http import tests_over_axis, tls_by_kind
from stackcost.report.plots.load import ceilings_found, completed_against_offered
from stackcost.report.plots.memory import (
    memory_by_state,
    memory_by_system,
)
from stackcost.report.plots.past_ceiling import latency_at_rates
from stackcost.report.plots.published import redrawn

__all__ = [
    "SERVER_COLOURS",
    "WIDTH",
    "as_svg",
    "bars",
    "ceilings_found",
    "completed_against_offered",
    "cores_by_kind",
    "cost_by_system",
    "cost_over_payload",
    "cost_over_workers",
    "factor_intervals",
    "factor_steps",
    "key",
    "labels",
    "largest",
    "latency_at_rates",
    "looks",
    "lying",
    "memory_by_state",
    "memory_by_system",
    "panels",
    "plain_numbers",
    "ratios",
    "redrawn",
    "save",
    "tests_over_axis",
    "tls_by_kind",
]
