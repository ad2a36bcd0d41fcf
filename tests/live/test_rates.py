"""What the page shows of a second, from samples with known values."""

import pytest

from stackcost.contracts.sample import Kind, Sample
from stackcost.runs.live.rates import CACHES, LiveRates

CLIENT = {"engine": "generator", "side": "client"}


def sample(at: float, metric: str, value: float | None, **labels: str) -> Sample:
    return Sample(at, metric, labels, value, "1", Kind.COUNTER, "made for a test")


def counters(at: float, **values: float) -> list[Sample]:
    return [
        sample(at, "trex.counter", value, counter=name, **CLIENT) for name, value in values.items()
    ]


def test_rates_are_of_the_time_between_two_readings() -> None:
    readings = LiveRates((1,))
    first = readings.second(counters(10.0, tcps_connattempt=100, tcps_closed=90, tcps_drops=0))
    assert first.completed is None and first.attempted is None, "one reading has no rate"
    second = readings.second(counters(12.0, tcps_connattempt=300, tcps_closed=280, tcps_drops=10))
    assert (second.attempted, second.completed) == (100, 90)
    assert second.failed == {"tcps_drops": 5}


def test_what_failed_in_tls_is_not_completed() -> None:
    readings = LiveRates((1,))
    readings.second(counters(10.0, tcps_closed=0, tls_failed=0))
    found = readings.second(counters(11.0, tcps_closed=90, tls_failed=30))
    assert (found.completed, found.failed) == (60, {"tls_failed": 30})


def test_a_counter_that_begins_anew_has_no_rate() -> None:
    readings = LiveRates((1,))
    readings.second(counters(10.0, tcps_closed=500))
    assert readings.second(counters(11.0, tcps_closed=3)).completed is None
    assert readings.second(counters(12.0, tcps_closed=10)).completed == 7


def test_nothing_is_of_two_trials_or_of_the_time_between() -> None:
    def read(at: float, closed: float, s: float) -> list[Sample]:
        time = sample(at, "engine.latency", s, kind="completion", percentile="p50", group="")
        return [*counters(at, tcps_closed=closed), time, sample(at, "slab.bytes", 7.0, cache="TCP")]

    readings = LiveRates((1,))
    readings.second(read(10.0, 0, 0.1))
    assert readings.second(read(11.0, 900, 0.2)).completed == 900
    assert readings.begin_trial().slab == {"TCP": 7}, "it is what there is, until it is read again"
    first = readings.second(read(15.0, 1000, 3.0))  # flows that were held, and time without load
    assert first.completed is None and not first.latency_us
    later = readings.second([*read(16.0, 1500, 0.3), *read(17.0, 2100, 0.4)])
    assert later.completed == 550 and later.latency_us == {"p50": 400_000}
    readings.begin_trial()
    both = readings.second([*read(18.0, 2100, 0.3), *read(20.0, 2500, 0.4)])
    assert both.completed == 200, "of two edges that come at once"


def test_what_was_not_read_again_stays_as_it_was() -> None:
    readings = LiveRates((1,))
    readings.second([*counters(10.0, tcps_closed=0), sample(10.0, "slab.bytes", 7.0, cache="TCP")])
    assert readings.second(counters(11.0, tcps_closed=9)).slab == {"TCP": 7}
    assert readings.second([sample(12.0, "slab.bytes", 8.0, cache="TCP")]).completed == 9


def test_busy_time_of_the_servers_cores_is_per_completed_connection() -> None:
    readings = LiveRates((1,))

    def cores(at: float, busy: float) -> list[Sample]:
        return [
            sample(at, "cpu.exact_time", value, cpu=cpu, kind=kind)
            for cpu in ("0", "1")
            for kind, value in (("task", busy), ("softirq", busy / 2), ("idle", at - 1.5 * busy))
        ]

    readings.second(cores(10.0, 1.0) + counters(10.0, tcps_closed=0))
    found = readings.second(cores(11.0, 1.2) + counters(11.0, tcps_closed=1000))
    assert found.cores["0"]["task"] == pytest.approx(0.2)
    assert found.busy_us_per_connection == pytest.approx(300), "core 0 is the load's"


def test_the_slowest_group_and_the_largest_caches_are_shown_and_unknown_values_are_not() -> None:
    readings = LiveRates(())
    labels = {"kind": "completion", "percentile": "p99"}
    readings.second([sample(0.5, "engine.latency", 0.1, group=each, **labels) for each in "abc"])
    found = readings.second(
        [sample(1.0, "slab.bytes", n * 1024.0, cache=f"cache-{n}") for n in range(20)]
        + [sample(1.0, "engine.latency", value, group=group, **labels)
           for group, value in (("a", 0.001), ("b", 0.003), ("c", 0.002))]
        + [sample(1.0, "slab.bytes", 1.0, cache=cache) for cache in ("TCP", "skbuff_head_cache")]
        + [sample(1.0, "slab.bytes", None, cache="unknown"), sample(1.0, "other.metric", 1.0)]
    )  # fmt: skip
    assert found.latency_us == {"p99": 3000}
    assert len(found.slab) == CACHES and list(found.slab)[:3] == [
        "TCP",
        "skbuff_head_cache",
        "cache-19",
    ]
