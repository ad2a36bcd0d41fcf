"""Cores for a line of payload, from loads with a known cost."""

import pytest

from stackcost.analysis.extrapolate import cores_at_line_rate
from stackcost.analysis.spread import spread
from stackcost.analysis.summary import Level, ServerResult

RATES = (1000.0, 2000.0, 3000.0)
IDLE_CORES = 0.05  # busy without any connection


def server(costs_us: dict[int, float], rates: tuple[float, ...] = RATES) -> ServerResult:
    """By round, the cost of one more connection; a fixed part comes on top at every load."""
    levels = []
    for rate in rates:
        each = [cost + IDLE_CORES * 1e6 / rate for cost in costs_us.values()]
        levels.append(
            Level.model_construct(
                test="",
                past_ceiling="",
                figures={
                    "completed_cps": spread([rate] * len(each), "1/s", rounds=[*costs_us]),
                    "server_cpu_total": spread(each, "us", rounds=[*costs_us]),
                    "packets": spread([33.0] * len(each), "1", rounds=[*costs_us]),
                },
            )
        )
    return ServerResult.model_construct(name="made", response_bytes=32_000, levels=levels)


def test_the_fixed_part_is_in_no_slope() -> None:
    found = cores_at_line_rate(server({1: 100.0, 2: 100.0}))
    assert found.connections_per_core.values == pytest.approx([10_000, 10_000])
    assert found.bits_per_core.median == pytest.approx(10_000 * 32_000 * 8 / 1e9)
    assert found.packets_per_core.median == pytest.approx(0.33), "33 of each connection"
    assert found.cores.median == pytest.approx(100 / 2.56)


def test_packets_that_were_not_counted_are_unknown_and_nothing_else_is() -> None:
    made = server({1: 100.0})
    unread = spread([], "1", "they hold several segments")
    for level in made.levels:
        level.figures["packets"] = unread
    found = cores_at_line_rate(made)
    assert found.packets_per_core.median is None and found.connections_per_core.median is not None
    assert found.packets_per_core.reason == "they hold several segments"


def test_rounds_that_differ_are_its_spread() -> None:
    found = cores_at_line_rate(server({1: 100.0, 2: 110.0, 3: 120.0}))
    assert found.cores.rounds == [1, 2, 3]
    assert found.cores.minimum == pytest.approx(100 / 2.56)
    assert found.cores.maximum == pytest.approx(1.2 * 100 / 2.56)


def test_a_load_past_the_ceiling_is_left_out_and_one_load_is_no_line() -> None:
    made = server({1: 100.0})
    made.levels[1:] = [
        level.model_copy(update={"past_ceiling": "lost"}) for level in made.levels[1:]
    ]
    found = cores_at_line_rate(made)
    assert found.cores.median is None and "two loads" in found.cores.reason
