"""The answer's tables as text, drawn by the terminal and by the report alike."""

from stackcost.report.tables.factors import cost_table, factor_table
from stackcost.report.tables.figures import figure_table, own_figure_table, system_figure_table
from stackcost.report.tables.load import (
    breakdown_table,
    generator_table,
    hardware_table,
    latency_table,
    load_table,
    price_table,
)
from stackcost.report.tables.memory import (
    cache_table,
    line_rate_table,
    memory_table,
    owner_table,
)
from stackcost.report.tables.short import (
    short_cost_table,
    short_factor_table,
    short_memory_table,
    unknown_factors,
)
from stackcost.report.tables.trust import (
    definition_table,
    machine_table,
    tuning_table,
)
from stackcost.report.text_table import TextTable

__all__ = [
    "TextTable",
    "breakdown_table",
    "cache_table",
    "cost_table",
    "definition_table",
    "factor_table",
    "figure_table",
    "generator_table",
    "hardware_table",
    "latency_table",
    "line_rate_table",
    "load_table",
    "machine_table",
    "memory_table",
    "own_figure_table",
    "owner_table",
    "price_table",
    "short_cost_table",
    "short_factor_table",
    "short_memory_table",
    "system_figure_table",
    "tuning_table",
    "unknown_factors",
]
