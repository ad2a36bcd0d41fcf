from stackcost.analysis.readings import Readings
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial
from tests.analysis.trials import START, SUSTAIN, counter, gauge


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
    assert seen.growth("cpu.time", kind="user") == 7
    assert seen.growth("cpu.time", cpu="1", kind="user") == 4
    assert seen.rate("cpu.time", kind="idle") == 5


def test_level_is_the_median_of_each_series_summed() -> None:
    seen = readings(
        gauge("slab.bytes", (10, 900, 20), {"cache": "TCP"}),
        gauge("slab.bytes", (1, 2, 3), {"cache": "filp"}),
    )
    assert seen.level("slab.bytes") == 22
    assert seen.by_label("slab.bytes", "cache") == {"TCP": 20, "filp": 2}


def test_what_was_not_read_is_unknown_not_zero() -> None:
    absent = Sample(START, "softirq.time", {}, None, "s", Kind.COUNTER, "tracepoint", "no BTF")
    seen = readings([absent], counter("cpu.time", 1, {})[:2])
    assert seen.growth("softirq.time") is None
    assert seen.level("softirq.time") is None
    assert seen.growth("cpu.time") is None, "read at one edge only"
    assert seen.at("drain").growth("cpu.time") is None, "a phase that never was"
    assert seen.by_label("softirq.time", "cpu") == {}
    assert seen.why_unknown("softirq.time") == "no BTF"
