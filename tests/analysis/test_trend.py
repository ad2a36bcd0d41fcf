"""How often a trend names a change where there is none, and that it finds those that are there.

Histories are drawn as they are made: measurements that differ by themselves, days of three
measurements with an effect of their own, single outliers, neighbours that slow some, a slow drift.
Each test prints what it found (pytest -rP).
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from stackcost.analysis.comparing.trend import Measurement, Subject, Trend, trends
from stackcost.analysis.trial.thresholds import RATE

OF = Subject("front end", "nginx/kernel", "server_cpu_total", "us", "01234567")
BEGAN = datetime(2026, 1, 1, 3, tzinfo=UTC)
DRAWS = 100
A_DAY = 3  # measurements, where several are made in an hour

Drawn = Callable[[np.random.Generator, int], np.ndarray]


def trend(values: np.ndarray, of_a_day: int = 1) -> Trend:
    """Of measurements, so many a day, ten minutes after each other."""
    measured = [
        Measurement(
            name=str(at),
            values=[float(value)],
            time=BEGAN + timedelta(days=at // of_a_day, minutes=at % of_a_day * 10),
            commit=f"{at:040x}",
        )
        for at, value in enumerate(values)
    ]
    (found,) = trends((OF, each) for each in measured)
    return found


def steady(random: np.random.Generator, number: int) -> np.ndarray:
    return 100 * random.lognormal(0, 0.01, number)


def with_outlier(by: float) -> Drawn:
    def draw(random: np.random.Generator, number: int) -> np.ndarray:
        values = steady(random, number)
        values[random.integers(number)] *= 1 + by
        return values

    return draw


def with_neighbours(random: np.random.Generator, number: int) -> np.ndarray:
    """One measurement in ten costs 5 to 20 % more."""
    slowed = random.random(number) < 0.1
    return steady(random, number) * np.where(slowed, random.uniform(1.05, 1.2, number), 1)


def in_blocks(random: np.random.Generator, number: int) -> np.ndarray:
    """Days differ by 2 %, measurements of a day by 0.5 %."""
    days = np.repeat(random.normal(0, 0.02, number), A_DAY)[:number]
    return 100 * np.exp(days + random.normal(0, 0.005, number))


@pytest.mark.parametrize("number", [10, 40])
@pytest.mark.parametrize(
    ("name", "draw", "of_a_day"),
    [
        ("steady", steady, 1),
        ("one outlier of 30 %", with_outlier(0.3), 1),
        ("one outlier of -25 %", with_outlier(-0.25), 1),
        ("neighbours slow one in ten", with_neighbours, 1),
        ("days of three", in_blocks, A_DAY),
    ],
)
def test_an_unchanged_server_has_no_change(
    name: str, draw: Drawn, of_a_day: int, number: int
) -> None:
    random = np.random.default_rng(4)
    found = [trend(draw(random, number), of_a_day) for _ in range(DRAWS)]
    changed = sum(len(each.groups) > 1 for each in found) / DRAWS
    print(f"{name}, {number} measurements: {changed:.1%} have a change")
    assert changed <= RATE + 3 * (RATE * (1 - RATE) / DRAWS) ** 0.5


@pytest.mark.parametrize(
    ("levels", "least"),
    [
        ([1.0] * 5 + [1.1] * 5, 0.9),
        ([1.0] * 30 + [1.1] * 4, 0.9),
        ([1.0] * 20 + [1.03] * 20, 0.9),
        ([1.0] * 20 + [1.05] * 10 + [1.0] * 20, 0.9),
        ([1.0] * 37 + [1.3] * 3, 0.9),
    ],
)
def test_a_change_is_found_where_it_was(levels: list[float], least: float) -> None:
    random = np.random.default_rng(6)
    wanted = [at for at in range(1, len(levels)) if levels[at] != levels[at - 1]]
    hits = near = 0
    for _ in range(DRAWS):
        found = trend(steady(random, len(levels)) * levels)
        begins = [group.first for group in found.groups[1:]]
        hits += len(begins) == len(wanted)
        near += len(begins) == len(wanted) and all(
            abs(seen - true) <= 2 for seen, true in zip(begins, wanted, strict=True)
        )
    print(f"{len(levels)} measurements, changes at {wanted}: found {hits}%, within two {near}%")
    assert hits >= least * DRAWS and near >= 0.8 * DRAWS


def test_an_outlier_does_not_hide_a_change() -> None:
    random = np.random.default_rng(8)
    found = 0
    for _ in range(DRAWS):
        values = steady(random, 40) * ([1.0] * 20 + [1.06] * 20)
        values[random.integers(40)] *= 1.3
        found += [group.first for group in trend(values).groups][1:] != []
    print(f"6 % with one outlier of 30 %, 20 and 20 measurements: found {found}%")
    assert found >= 70


def test_groups_are_of_three_sessions_or_more() -> None:
    random = np.random.default_rng(2)
    for _ in range(50):
        levels = np.repeat(random.uniform(80, 120, 12), random.integers(1, 8, 12))
        for group in trend(steady(random, len(levels)) * levels / 100).groups:
            assert len(group.measurements) >= 3


def test_one_measurement_and_only_zeros() -> None:
    assert len(trend(np.array([5.0])).groups) == 1
    zeros = trend(np.zeros(20))
    assert [(each.mean, each.deviation, each.change) for each in zeros.groups] == [(0, 0, None)]


def test_a_long_history_takes_seconds() -> None:
    found = trend(steady(np.random.default_rng(1), 1000) * np.repeat([1.0, 1.05], 500))
    assert [abs(each.first - 500) <= 3 for each in found.groups[1:]] == [True]
