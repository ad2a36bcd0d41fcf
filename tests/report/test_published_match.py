"""A figure of ours joins a published table of the same system, stack, test and axis only."""

from typing import Any

import pytest

from stackcost.analysis.published_tables import documents
from stackcost.report.opened import OpenedCosts, OpenedRuns
from stackcost.report.published_match import PublishedMatch, matches
from stackcost.store import Manifest
from tests.analysis.http_trials import asked, summary

ANSWERED = 50_000.0  # requests/s
BITS = 8e9  # per second


def joined(
    document: str, server: str, measures: str, body: int, offered: float = 0.0
) -> dict[str, PublishedMatch]:
    """Our figures beside a document's tables, by table, after a run of one HTTP test."""
    trial = asked("wrk", 50, "made", offered, ANSWERED)
    trial.server = server
    trial.load.settings.measures, trial.load.settings.body_bytes = measures, [body]
    trial.load.counted.rate, trial.load.counted.bits_per_second = ANSWERED, BITS
    made: dict[str, Any] = {"nginx": {"workers": 4}, "cores": {"server": [1, 2]}}
    manifest = Manifest(run="made", state="complete", experiment=made, machine={})
    runs = OpenedRuns(costs=[OpenedCosts(manifest, summary(trial))])
    found = matches(documents()[document], runs)
    return {each.table: each for each in found if each.value is not None}


def test_a_proxys_connections_stand_in_the_proxys_table_alone() -> None:
    assert joined("nginx_cookbook", "haproxy/kernel", "connections", 0) == {}
    (found,) = joined("haproxy_cookbook", "haproxy/kernel", "connections", 0).values()
    assert found.table == "Table 1" and found.x == 4, "as many as its workers"
    assert found.value == pytest.approx(ANSWERED / 1000), "the table counts thousands"


def test_a_web_servers_connections_stand_in_the_web_servers_tables_alone() -> None:
    assert joined("haproxy_cookbook", "nginx/kernel", "connections", 0) == {}
    found = joined("nginx_cookbook", "nginx/kernel", "connections", 0)
    assert set(found) == {"Table 2", "Table 11"}
    assert {each.value for each in found.values()} == {ANSWERED}


def test_another_stack_or_another_length_joins_nothing() -> None:
    assert joined("nginx_cookbook", "nginx/onload-balanced", "connections", 0) == {}
    assert joined("haproxy_cookbook", "haproxy/kernel", "requests", 1000) == {}
    assert set(joined("haproxy_cookbook", "haproxy/kernel", "requests", 1024)) == {"Table 2"}
    assert set(joined("haproxy_cookbook", "haproxy/kernel", "throughput", 10_240)) == {"Table 3"}


def test_latency_stands_at_the_rate_that_was_offered() -> None:
    (found,) = joined("haproxy_cookbook", "haproxy/kernel", "latency", 1024, 4000.0).values()
    assert found.table == "Table 4" and found.x == 4000
    assert joined("haproxy_cookbook", "haproxy/kernel", "latency", 1024) == {}, "a closed loop"


def test_throughput_is_in_the_bits_that_the_table_counts() -> None:
    found = joined("nginx_cookbook", "nginx/kernel", "throughput", 100_000)
    assert set(found) == {"Table 7", "Table 16"}
    for each in found.values():
        assert each.value == pytest.approx(BITS / (1000 * 2**20))


def test_workers_that_vary_are_the_axis() -> None:
    (found,) = joined("haproxy_cookbook", "haproxy/kernel:2-workers", "connections", 0).values()
    assert found.x == 2


def test_every_table_without_ours_says_what_measures_it() -> None:
    for name in ("nginx_cookbook", "haproxy_cookbook"):
        document = documents()[name]
        found = matches(document, OpenedRuns())
        assert [each.table for each in found] == [table.name for table in document.tables]
        assert all("stackcost run experiments/" in each.reason for each in found)
