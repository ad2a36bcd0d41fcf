"""Where a series changed: the same groups as jumpavg, and in a fraction of its time."""

import time

import numpy as np
import pytest
from jumpavg import classify

from stackcost.analysis.change_points import segments_of


def series(seed: int) -> list[list[float]]:
    """Levels that change now and then, measured with some spread and by some trials each."""
    random = np.random.default_rng(seed)
    level, found = 1000.0, []
    for _ in range(int(random.integers(1, 60))):
        if random.random() < 0.1:
            level *= float(random.uniform(0.7, 1.4))
        count = int(random.integers(1, 6))
        found.append(random.normal(level, level * 0.02, count).tolist())
    return found


@pytest.mark.parametrize("seed", range(40))
def test_the_groups_are_those_of_jumpavg(seed: int) -> None:
    measurements = series(seed)
    theirs, first = [], 0
    for group in classify(measurements):
        theirs.append((first, len(group), group.stats.avg, group.stats.stdev))
        first += len(group)
    ours = segments_of(measurements)
    assert [each[:2] for each in ours] == [each[:2] for each in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[2:] == pytest.approx(other[2:], rel=1e-9, abs=1e-9)


def test_a_long_series_takes_less_time_than_a_short_one_with_jumpavg() -> None:
    random = np.random.default_rng(1)
    long = random.normal(100, 2, (1000, 3)).tolist()
    began = time.thread_time()
    segments_of(long)
    ours = time.thread_time() - began
    began = time.thread_time()
    classify(long[:250])
    assert ours < time.thread_time() - began


def test_nothing_and_only_zeros() -> None:
    assert segments_of([]) == []
    ((first, count, mean, deviation),) = segments_of([[0.0], [0.0, 0.0]])
    assert (first, count, mean, deviation) == (0, 2, 0.0, 0.0)
