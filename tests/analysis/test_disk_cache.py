"""Figures of a cache on disk, and of rates past a ceiling, from trials with known samples."""

import pytest

from stackcost.report import disk_cache, past_ceiling
from tests.analysis.http_trials import asked, cached, summary
from tests.analysis.trials import load_trial


def test_a_cache_tells_hits_disk_and_who_was_blocked() -> None:
    (found,) = summary(cached()).servers[0].levels
    assert found["cache.hit_ratio"].median == pytest.approx(0.95)
    assert found["cache.disk_share"].median == pytest.approx(0.5)  # 0.5 MB/s read, 1 received
    assert found["cache.blocked.event loop"].median == pytest.approx(0.03)
    assert found["cache.blocked.thread pool"].median == pytest.approx(0.2)
    assert found["cache.warm_at_start"].median == 0
    (other,) = summary(load_trial()).servers[0].levels
    assert not other.kinds("cache")


def test_the_tables_row_of_what_cannot_run_says_why() -> None:
    whole = summary(cached())
    measured, missing = disk_cache.cache_table(whole).rows
    assert "3.00%" in measured[7] and "20.00%" in measured[8]
    assert missing[0].endswith("aio-dlb") and missing[-1] == "not measured: it lacks a device"
    assert "event loop was blocked: mix: haproxy/kernel 3.00%" in disk_cache.blocked_answer(whole)


def test_past_the_ceiling_both_ways_of_timing_are_shown_together() -> None:
    whole = summary(
        asked("h2load", 100, "rates", 1000, 1000),
        asked("h2load", 100, "rates", 4000, 1500),
        asked("ab", 100, "closed-ab", 0, 1600),
    )
    assert past_ceiling.at_rates(whole)
    said = past_ceiling.collapse(whole)
    assert "4,000 requests/s were offered, 1,500 were answered" in said
    assert "3,0" in said.partition("intended start is ")[2][:5], "3 s, from the intended start"
    assert "from sending it is 2.0 ms; closed loops at their ceiling measure ab 2.0 ms" in said
    closed = [row for row in past_ceiling.latency_at_rates(whole).rows if "closed loop" in row]
    assert len(closed) == 1 and closed[0][-2] == "", "a closed loop knows no intended start"


def test_memory_of_the_processes_is_a_slope_over_connections() -> None:
    whole = summary(
        asked("h2load", 100, "open-100", 1000, 1000),
        asked("h2load", 1000, "open-1000", 1000, 1000),
    )
    assert [row[-1] for row in past_ceiling.process_memory(whole).rows] == ["500", "500"]
