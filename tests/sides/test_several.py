"""Several generators as one: orders divided, answers added up, one that dies named."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from stackcost.collect.engine import CPU_METHOD, MEMORY_METHOD, SCHEDULE_METHOD, Engine, EngineTime
from stackcost.collect.latency import read_latency
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.latency import HIGHEST_US, SIGNIFICANT_FIGURES
from stackcost.sides.generator_group import GeneratorGroup, Member
from stackcost.sides.shares import divide_clients, parts_of
from tests.sides.made_up import MadeUpGenerator

CLIENTS = "16.0.0.1-16.0.0.200"
PARTS = parts_of([3, 1])
TIMES_US = [[90, 100, 100, 4000], [50, 250_000]]


@pytest.fixture
def sides() -> list[MadeUpGenerator]:
    return [MadeUpGenerator(300, TIMES_US[0], hz=1e9), MadeUpGenerator(100, TIMES_US[1], hz=3e9)]


@pytest.fixture
def both(sides: list[MadeUpGenerator]) -> Iterator[GeneratorGroup]:
    ranges = divide_clients(CLIENTS, PARTS)
    members = [
        Member(f"generator-{at + 1}", PARTS[at], ranges[at], side) for at, side in enumerate(sides)
    ]
    with closing(GeneratorGroup(members)) as several:
        yield several


def test_each_gets_its_part_of_every_rate_and_its_own_clients(
    both: GeneratorGroup, sides: list[MadeUpGenerator]
) -> None:
    both.load_profile(Path("http_hold.py"), {"flows": 401, "port": 80, "clients": CLIENTS}, "a")
    both.load_profile(Path("http_program.py"), {})
    both.start(mult=1000, duration=5, profile="a")
    both.update(200)
    both.stop()
    for side, part, clients, flows in zip(
        sides, PARTS, ("16.0.0.1-16.0.0.150", "16.0.0.151-16.0.0.200"), (300, 101), strict=True
    ):
        assert side.log == [
            ("load", "http_hold.py", {"flows": flows, "port": 80, "clients": clients}, "a"),
            ("load", "http_program.py", {"clients": clients}, "_"),
            ("start", 1000 * part, 5, "a"),
            ("update", 200 * part),
            "stop",
        ]


def test_each_has_its_part_of_a_networks_rate_and_all_of_its_loss(
    both: GeneratorGroup, sides: list[MadeUpGenerator]
) -> None:
    both.set_network({"loss": 0.1, "rate_mbit": 100})
    both.set_network({})
    assert [side.log for side in sides] == [
        [("network", {"loss": 0.1, "rate_mbit": 75}), ("network", {})],
        [("network", {"loss": 0.1, "rate_mbit": 25}), ("network", {})],
    ]
    assert both.network_counts() == {"frames": 400, "lost": 2}


def test_counters_are_added_up_and_averages_are_left_out(both: GeneratorGroup) -> None:
    stats = both.stats()
    client = {"tcps_connects": 400, "m_traffic_duration": 2.0}
    assert stats["traffic"] == {"client": client, "server": {}}
    assert (stats["0"]["opackets"], stats["0"]["ipackets"]) == (4000, 14)
    groups = both.group_stats()
    assert groups["web"]["client"] == {"tcps_connects": 400}
    assert groups["only 100"]["client"] == {"tcps_connects": 100}
    kept = both.call(SCHEDULE_METHOD, {})
    assert kept == {"intended": 402, "opened": 400, "late": 4, "unsent": 2}
    assert both.call(MEMORY_METHOD, {})["pools"] == [
        {"name": "flows", "object_bytes": 64, "in_use": 400, "reserved_bytes": 2000}
    ]


def test_histograms_are_merged_as_if_one_generator_had_recorded_all(both: GeneratorGroup) -> None:
    one = HdrHistogram(1, HIGHEST_US, SIGNIFICANT_FIGURES)
    for time_us in TIMES_US[0] + TIMES_US[1]:
        one.record_value(time_us)
    merged = read_latency(both)
    assert merged is not None
    assert {kind: h.encode() for kind, h in merged["web"].items()} == dict.fromkeys(
        merged["web"], one.encode()
    )


def test_readers_see_one_generator_and_the_time_of_each(both: GeneratorGroup) -> None:
    assert both.call(CPU_METHOD, {})["tsc_hz"] == 1
    samples = Engine("generator", both).read()
    (connects,) = (s for s in samples if s.labels.get("counter") == "tcps_connects")
    assert connects.value == 400
    busy = [s for s in EngineTime("generator", both).read() if s.metric == "engine.busy_time"]
    assert [(s.value, s.labels["core"], s.labels["generator"]) for s in busy] == [
        (1.0, "0", "generator-1"),
        (1.0, "1", "generator-2"),
    ]
    assert both.data_cpus() == [3, 3]


def test_the_share_of_each_is_told_and_they_add_up(both: GeneratorGroup) -> None:
    both.start(mult=1)
    first, second = both.shares()
    assert (first.name, first.part, first.clients) == (
        "generator-1",
        0.75,
        "16.0.0.1-16.0.0.150",
    )
    assert second.schedule and second.schedule.opened == 100
    assert min(first.started_s, second.started_s) == 0
    whole = both.stats()["traffic"]["client"]["tcps_connects"]
    assert first.client["tcps_connects"] + second.client["tcps_connects"] == whole


def test_one_that_dies_fails_every_order_with_its_own_words(
    both: GeneratorGroup, sides: list[MadeUpGenerator]
) -> None:
    sides[1].dead = "generator-2 ended with exit status -9: it printed nothing"
    for ask in (both.stats, both.check, both.is_traffic_active, lambda: both.start(1)):
        with pytest.raises(StackcostError, match="generator-2 ended with exit status -9"):
            ask()
    assert sides[0].log == [("start", 0.75, -1, "_")], "the living one gets what all get"


def test_what_one_of_them_lacks_is_unknown_of_all(
    both: GeneratorGroup, sides: list[MadeUpGenerator]
) -> None:
    sides[1].lacks = CPU_METHOD
    (sample, *_) = EngineTime("generator", both).read()
    assert sample.value is None and "no RPC method" in sample.reason
    with pytest.raises(StackcostError, match="no common answer to get_version"):
        both.call("get_version", {})


def test_traffic_goes_on_while_one_of_them_has_any(
    both: GeneratorGroup, sides: list[MadeUpGenerator]
) -> None:
    assert not both.is_traffic_active()
    sides[1].connections = 101
    assert both.is_traffic_active()


def test_a_limit_of_flows_never_becomes_no_limit(
    both: GeneratorGroup, sides: list[MadeUpGenerator]
) -> None:
    both.load_profile(Path("http_hold.py"), {"flows": 2})
    assert [side.log[-1][2]["flows"] for side in sides] == [1, 1]
    with pytest.raises(StackcostError, match="2 generators cannot divide 1 flows"):
        both.load_profile(Path("http_hold.py"), {"flows": 1})
