"""Clients beside a test: the server answers them too, and no rate and no time is of them."""

from pathlib import Path

import pytest

from stackcost.analysis import http
from stackcost.analysis.readings import Readings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import HttpCounts
from stackcost.contracts.load import HttpClients
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from tests.analysis.http_trials import REQUESTS, asked, summary


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
    (check, *_) = http.comparisons(Readings(with_others(served)))
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
