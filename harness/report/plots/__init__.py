"""The report's figures: each drawn from stored results alone, with units, intervals and a key.

Colours are those of Okabe and Ito, which stay apart for colour-blind readers; lines differ by
marker too, so that a print in grey can be read.
"""

from harness.report.plots.cpu import (
    busy_by_kind,
    cores_by_kind,
    cost_by_system,
    cost_over_load,
    cost_over_payload,
    cost_over_workers,
    parts_by_system,
)
from harness.report.plots.differences import ratios
from harness.report.plots.drawing import SERVER_COLOURS, WIDTH, as_svg, save
from harness.report.plots.factors import factor_intervals, factor_steps
from harness.report.plots.http import tests_over_axis, tls_by_kind
from harness.report.plots.load import ceilings_found, completed_against_offered, latency_over_load
from harness.report.plots.memory import (
    caches_by_system,
    memory_by_state,
    memory_by_system,
    memory_over_flows,
)
from harness.report.plots.past_ceiling import latency_at_rates
from harness.report.plots.published import redrawn

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
