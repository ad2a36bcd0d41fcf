import random
from itertools import accumulate

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.steadiness import completed_series, steadiness, warm_up_end
from stackcost.contracts import metrics
from stackcost.contracts.metrics import TREX_COUNTER
from stackcost.contracts.window import Window
from tests.analysis.trials import END, START, load_trial


def counted(rates: list[float], first: float = 10.0) -> list[tuple[float, float]]:
    """A running count, read every second, that grew at these rates."""
    counts = accumulate(rates, initial=50.0)
    return [(first + second, count) for second, count in enumerate(counts)]


def noisy(number: int, mean: float = 1000.0, share: float = 0.01) -> list[float]:
    source = random.Random(7)
    return [source.gauss(mean, share * mean) for _ in range(number)]


def test_an_even_rate_is_steady() -> None:
    found = steadiness(counted([1000.0] * 8))
    assert found is not None and found.intervals == 8
    assert found.correlation == pytest.approx(1) and found.variation == 0
    assert found.drift == pytest.approx(0)


def test_noise_is_variation_and_a_slope_is_drift() -> None:
    rough = steadiness(counted(noisy(50, share=0.05)))
    rising = steadiness(counted([1000.0 + 20 * second for second in range(10)]))
    assert rough is not None and rising is not None
    assert rough.variation == pytest.approx(0.05, rel=0.3) and abs(rough.drift) < 0.05
    assert rising.drift == pytest.approx(0.18, abs=0.03)
    assert rising.correlation < rough.correlation


def test_a_rate_that_stops_does_not_correlate() -> None:
    found = steadiness(counted([1000.0] * 5 + [0.0] * 5))
    assert found is not None and found.correlation < 0.95 and found.variation > 0.9


def test_too_little_says_nothing() -> None:
    assert steadiness(counted([1000.0] * 4)) is None
    assert steadiness(counted([0.0] * 8)) is None
    assert warm_up_end(counted([1000.0] * 4)) is None


@pytest.mark.parametrize("slow", [0, 1, 2, 3])
def test_the_warm_up_ends_where_the_rate_is_that_of_later(slow: int) -> None:
    rates = [100.0 * (second + 1) for second in range(slow)] + noisy(12)
    assert warm_up_end(counted(rates)) == 10.0 + slow


def test_noise_alone_is_no_warm_up() -> None:
    ends = []
    for seed in range(50):
        source = random.Random(seed)
        ends.append(warm_up_end(counted([source.gauss(1000, 10) for _ in range(10)])))
    assert sum(end == 10.0 for end in ends) >= 40


def test_an_edge_read_right_after_the_samplers_turn_is_no_rate() -> None:
    series = counted([1000.0] * 8)
    beside = sorted([*series, (series[3][0] + 0.004, series[3][1] + 9.0)])
    assert steadiness(beside) == steadiness(series)


def test_the_series_is_the_generators_own_count_of_completed_connections() -> None:
    samples = Readings(load_trial(completed=10_000)).samples(metrics.TREX_COUNTER)
    assert completed_series(samples, Window(START, END)) == [(START, 0.0), (END, 10_000.0)]


def test_connections_that_failed_are_not_in_the_rate_that_has_to_be_steady() -> None:
    """A run whose failures rise was as steady as one without, because all of them end."""
    samples = []
    for name, rise in (("tcps_closed", 0.0), ("tcps_drops", 50.0)):
        labels = {"engine": "generator", "side": "client", "counter": name}
        rates = [(0.0 if rise else 1000.0) + rise * second for second in range(10)]
        samples += [TREX_COUNTER.sample(at, each, **labels) for at, each in counted(rates, START)]
    found = steadiness(completed_series(samples, Window(START, END)))
    assert found is not None and found.drift < -0.4
