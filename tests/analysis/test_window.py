"""Cutting series to windows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackcost.analysis.readings import Readings
from stackcost.analysis.window import growth, known_values, level
from stackcost.contracts import metrics
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from tests.analysis.trials import START, SUSTAIN, counter, gauge, seconds_of

COUNT = Metric("made.count", "1", Kind.COUNTER, "a test")
LEVEL = Metric("made.level", "B", Kind.GAUGE, "a test")
WINDOW = Window(100.0, 110.0)


def counted(*points: tuple[float, float]) -> list[Sample]:
    return [COUNT.sample(time, value) for time, value in points]


@given(
    st.lists(st.floats(100, 110), max_size=20),
    st.floats(0, 0.19),
    st.floats(0, 0.19),
    st.floats(0, 1e6),
)
def test_a_steady_counter_grows_by_its_rate_wherever_it_is_read(
    inside: list[float], before: float, after: float, rate: float
) -> None:
    times = [WINDOW.start - before, *inside, WINDOW.end + after]
    series = counted(*((time, 7 + rate * (time - 90)) for time in reversed(times)))
    assert growth(known_values(series), WINDOW) == pytest.approx(
        rate * WINDOW.length, rel=1e-6, abs=1e-6
    )


def test_readings_at_the_edges_are_taken_as_they_are() -> None:
    series = counted((99, 1), (100, 10), (105, 900), (110, 1000), (111, 9999))
    assert growth(known_values(series), WINDOW) == 990


def test_a_reading_milliseconds_inside_stands_for_the_edge() -> None:
    series = counted((100.01, 0), (109.99, 998))
    assert growth(known_values(series), WINDOW) == pytest.approx(1000)


def test_two_readings_close_to_each_other_do_not_decide_the_rest() -> None:
    series = counted((100, 0), (109.899, 1000), (109.9, 1010))
    assert growth(known_values(series), WINDOW) == pytest.approx(1010, rel=0.02)


@pytest.mark.parametrize("beyond", [[(97, 462), (98, 0)], [(112, 0)]], ids=["before", "after"])
def test_a_reset_outside_of_the_window_is_no_matter(beyond: list[tuple[float, float]]) -> None:
    """As a generator's before a second load: its counters were read once more before it began."""
    series = counted(*beyond, (99, 1), (100, 10), (105, 400), (110, 460), (111, 461))
    assert growth(known_values(series), WINDOW) == 450


def test_a_fall_by_a_rounding_is_no_reset() -> None:
    assert growth(
        known_values(counted((100, 5), (105, 8.000001), (110, 8.0))), WINDOW
    ) == pytest.approx(3)


@pytest.mark.parametrize(
    "series",
    [
        [],
        counted((100, 1)),
        counted((103, 1), (110, 5)),
        counted((100, 1), (107, 5)),
        counted((100, 50), (105, 3), (110, 60)),
    ],
    ids=["never read", "read once", "begins late", "ends early", "was reset"],
)
def test_growth_that_was_not_seen_whole_is_unknown(series: list[Sample]) -> None:
    assert growth(known_values(series), WINDOW) is None


def test_unknown_readings_are_passed_over() -> None:
    series = [*counted((100, 1), (110, 5)), COUNT.unknown(105, "its source was away")]
    assert growth(known_values(series), WINDOW) == 4


def test_a_level_is_the_median_inside_the_window() -> None:
    series = [LEVEL.sample(t, v) for t, v in ((90, 1e9), (101, 5), (102, 7), (103, 100), (111, 0))]
    assert level(known_values(series), WINDOW) == 7
    assert level(known_values(series[:1]), WINDOW) is None


def account(cpu: int, kinds: dict[str, float], ticks: dict[str, float]) -> list[Sample]:
    samples = []
    for name, seconds in (("cpu.exact_time", kinds), ("cpu.time", ticks)):
        metric = Metric(name, "s", Kind.COUNTER, "a test")
        for kind, grows in seconds.items():
            for time, value in ((100, 3.0), (110, 3.0 + grows)):
                samples.append(metric.sample(time, value, cpu=str(cpu), kind=kind))
    return samples


TICKS = {"user": 0.9, "nice": 0.1, "system": 3.0, "softirq": 0.2, "steal": 0.05}


def test_task_time_is_split_by_ticks_and_the_kinds_close() -> None:
    kinds = {"task": 5.0, "softirq": 2.0, "irq": 0.1, "idle": 2.8}
    spent = seconds_of(account(1, kinds, TICKS), WINDOW, 1)
    assert (spent.user, spent.system) == pytest.approx((1.25, 3.75))
    assert (spent.softirq, spent.irq, spent.idle) == pytest.approx((2.0, 0.1, 2.8))
    assert (spent.residue, spent.stolen) == pytest.approx((0.1, 0.05))


def test_time_split_at_system_calls_needs_no_ticks() -> None:
    kinds = {"user": 1.0, "system": 4.0, "softirq": 2.0, "irq": 0.1, "idle": 2.9}
    spent = seconds_of(account(1, kinds, {}), WINDOW, 1)
    assert (spent.user, spent.system, spent.residue) == pytest.approx((1.0, 4.0, 0.0))
    assert spent.stolen is None


def test_without_an_account_all_but_the_stolen_time_is_unknown() -> None:
    spent = seconds_of(account(1, {}, TICKS), WINDOW, 1)
    assert spent.stolen == pytest.approx(0.05)
    assert [spent.user, spent.system, spent.irq, spent.softirq, spent.idle, spent.residue] == (
        [None] * 6
    )


def readings(*parts: list[Sample]) -> Readings:
    samples = [sample for part in parts for sample in part]
    return Readings(
        Trial("s", 1, 1, ConstantLoad(offered_cps=10), phases={"sustain": SUSTAIN}, samples=samples)
    )


def test_growth_is_cut_to_the_phase_and_summed_over_series() -> None:
    seen = readings(
        counter("cpu.time", 3, {"cpu": "0", "kind": "user"}),
        counter("cpu.time", 4, {"cpu": "1", "kind": "user"}),
        counter("cpu.time", 50, {"cpu": "1", "kind": "idle"}),
    )
    assert seen.growth(metrics.CPU_TIME, kind="user") == 7
    assert seen.growth(metrics.CPU_TIME, cpu="1", kind="user") == 4
    assert seen.rate(metrics.CPU_TIME, kind="idle") == 5


def test_a_counter_that_a_reading_lacked_began_at_zero_then() -> None:
    """It was "no growth": of a thread, an error or a rule that first came in the window."""
    usual = [(START - 1, 3.0), (START, 5.0), (START + 5, 10.0), (START + 10, 15.0)]
    new = [(START + 5, 4.0), (START + 10, 40.0)]
    trial = Trial("made", 1, 1, ConstantLoad(offered_cps=1), 0, phases={"sustain": SUSTAIN})
    for name, points in (("usual", usual), ("new", new)):
        trial.samples += [COUNT.sample(time, value, name=name) for time, value in points]
    late = [COUNT.sample(START + 2, 1000.0, name="of another reader")]
    late.append(COUNT.sample(START + 9.9, 1007.0, name="of another reader"))
    assert Readings(trial).growth(COUNT, name="new") == 40
    assert Readings(trial).growth(COUNT) == 50
    trial.samples += late
    assert Readings(trial).growth(COUNT, name="of another reader") is None, "it is not known when"
    first = COUNT.unknown(START - 1, "it failed", name="new")
    trial.samples.append(first)
    assert Readings(trial).growth(COUNT, name="new") is None, "it was there, and not known"


def test_a_counter_that_began_late_in_the_window_was_zero_before() -> None:
    """It was unknown: the last reading without it left half of the window open."""
    trial = Trial("made", 1, 1, ConstantLoad(offered_cps=1), 0, phases={"sustain": SUSTAIN})
    usual = [(START + 0.001, 3.0), (START + 5, 10.0), (START + 8, 13.0), (START + 10, 15.0)]
    trial.samples = [COUNT.sample(time, value, name="usual") for time, value in usual]
    trial.samples += [COUNT.sample(time, 2.0, name="new") for time, _ in usual[2:]]
    assert Readings(trial).by_label(COUNT, "name")["new"] == pytest.approx(2.0)
    trial.samples[0] = COUNT.unknown(START + 0.001, "it failed", name="usual")
    trial.samples[1] = COUNT.unknown(START + 5, "it failed", name="usual")
    assert Readings(trial).growth(COUNT, name="new") is None, "no reading before it succeeded"


def test_level_is_the_median_of_each_series_summed() -> None:
    seen = readings(
        gauge("slab.bytes", (10, 900, 20), {"cache": "TCP"}),
        gauge("slab.bytes", (1, 2, 3), {"cache": "filp"}),
    )
    assert seen.level(metrics.SLAB_BYTES) == 22
    assert seen.by_label(metrics.SLAB_BYTES, "cache") == {"TCP": 20, "filp": 2}


def test_what_was_not_read_is_unknown_not_zero() -> None:
    absent = Sample(START, "softirq.time", {}, None, "s", Kind.COUNTER, "tracepoint", "no BTF")
    seen = readings([absent], counter("cpu.time", 1, {})[:2])
    assert seen.growth(metrics.SOFTIRQ_TIME) is None
    assert seen.level(metrics.SOFTIRQ_TIME) is None
    assert seen.growth(metrics.CPU_TIME) is None, "read at one edge only"
    assert seen.at("drain").growth(metrics.CPU_TIME) is None, "a phase that never was"
    assert seen.by_label(metrics.SOFTIRQ_TIME, "cpu") == {}
    assert seen.why_unknown(metrics.SOFTIRQ_TIME) == "no BTF"
