"""The report's figures: each drawn from stored results alone, with units, intervals and a key.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers; lines differ by
marker too, so that a print in grey can be read.
"""

from stackcost.report.plots.cpu import (
    busy_by_kind,
    cores_by_kind,
    cost_by_system,
    cost_over_load,
    cost_over_payload,
    cost_over_workers,
    parts_by_system,
)
from stackcost.report.plots.differences import ratios
from stackcost.report.plots.drawing import SERVER_COLOURS, WIDTH, as_svg, save
from stackcost.report.plots.factors import factor_intervals, factor_steps
from stackcost.report.plots.http import tests_over_axis, tls_by_kind
from stackcost.report.plots.load import ceilings_found, completed_against_offered, latency_over_load
from stackcost.report.plots.memory import (
    caches_by_system,
    memory_by_state,
    memory_by_system,
    memory_over_flows,
)
from stackcost.report.plots.past_ceiling import latency_at_rates
from stackcost.report.plots.published import redrawn

__all__ = [
    "SERVER_COLOURS",
    "WIDTH",
    "as_svg",
    "busy_by_kind",
    "caches_by_system",
    "ceilings_found",
    "completed_against_offered",
    "cores_by_kind",
    "cost_by_system",
    "cost_over_load",
    "cost_over_payload",
    "cost_over_workers",
    "factor_intervals",
    "factor_steps",
    "latency_at_rates",
    "latency_over_load",
    "memory_by_state",
    "memory_by_system",
    "memory_over_flows",
    "parts_by_system",
    "ratios",
    "redrawn",
    "save",
    "tests_over_axis",
    "tls_by_kind",
]
