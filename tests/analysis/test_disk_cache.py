"""Figures of a cache on disk, and of rates past a ceiling, from trials with known samples."""

from pathlib import Path

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.checks import checks
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import HttpCounts
from stackcost.contracts.load import HttpClients
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.report import past_ceiling
from tests.analysis.http_trials import REQUESTS, asked, cached, summary
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
        asked("h2load", 100, "open-100", 1000, 1000), asked("h2load", 1000, "open-1000", 1000, 1000)
    )
    assert [row[-1] for row in past_ceiling.process_memory(whole).rows] == ["500", "500"]


def with_others(served: int) -> Trial:
    """A test of 10,000 answers beside clients that got 700, of which 3 requests failed."""
    trial = asked("wrk", 50, "large", 0, 1000)
    assert isinstance(trial.load, HttpClients) and trial.load.settings
    trial.load.settings.beside = [100_000]
    trial.load.counted_beside = HttpCounts(
        requests=700, rate=70, bits_per_second=9e9, failed={"timeout": 3}, unsent=0
    )
    trial.load.server_requests = served
    return trial


@pytest.mark.parametrize(("served", "holds"), [(REQUESTS, False), (REQUESTS + 700, True)])
def test_the_server_has_counted_the_requests_of_both(served: int, holds: bool) -> None:
    (check, *_) = checks(Readings(with_others(served)))
    assert check.holds is holds
    assert check.wanted == f"10700 to {10_700 + 3 + 2 * 50}", "failed, and under way at the end"


def test_its_rate_is_of_the_test_alone_and_its_connections_are_of_both() -> None:
    (level,) = summary(with_others(REQUESTS + 700)).servers[0].levels
    assert level["http.rate"].median == 1000 and level["http.bandwidth"].median == 8e6
    assert level["http.concurrency"].median == 100 and level["failed"].median == 3


def test_clients_beside_a_rate_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "cache.yaml"
    text = (EXPERIMENTS / "cdn_cache.yaml").read_text()
    file.write_text(text.replace("rates: [60, 120, 180, 240]", "rates: [60]\n      beside: [1]"))
    with pytest.raises(StackcostError, match="ramp: clients beside those at a rate have no rate"):
        read_experiment(file)
