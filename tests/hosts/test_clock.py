"""Clocks of two hosts: compared by exchanges, stored with a trial, flagged where it matters."""

import itertools

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.counts import Clock
from stackcost.hosts.clock import EXCHANGES, compare_clocks, over_a_trial
from stackcost.store.trial_lines import decode, encode
from tests.analysis.trials import load_trial

AHEAD_S = 5000.0


@pytest.mark.parametrize("way_there", [0.0, 0.3, 1.0])
def test_the_shortest_exchange_tells_the_offset_within_its_error(way_there: float) -> None:
    """`way_there`: the share of a round trip that the question takes, from none to all."""
    now = 100.0
    trips = itertools.cycle([0.4, 0.02, 0.3, 0.9])
    asked: list[float] = []

    def there() -> float:
        nonlocal now
        trip = next(trips)
        read = now + way_there * trip + AHEAD_S
        now += trip
        asked.append(read)
        return read

    clock = compare_clocks(there, lambda: now)
    assert len(asked) == EXCHANGES
    assert clock.error_s == pytest.approx(0.01)
    assert abs(clock.offset_s - AHEAD_S) <= clock.error_s + 1e-9


def test_what_the_clocks_drift_in_a_trial_adds_to_the_error() -> None:
    before, after = {"b": Clock(10.0, 0.001)}, {"b": Clock(10.004, 0.002)}
    (clock,) = over_a_trial(before, after).values()
    assert clock.offset_s == 10.0, "by which the samples were moved"
    assert clock.error_s == pytest.approx(0.006)
    assert over_a_trial({}, {}) == {}


def test_a_trial_stores_its_clocks_and_one_of_before_has_none() -> None:
    trial = load_trial()
    trial.clocks = {"b": Clock(10.0, 0.001)}
    line = encode(trial)
    assert decode(line).clocks == trial.clocks
    older = line.replace(b', "clocks": {"b": {"offset_s": 10.0, "error_s": 0.001}}', b"")
    assert older != line and decode(older).clocks == {}


def test_an_error_above_one_per_cent_of_the_window_is_flagged() -> None:
    trial = load_trial()
    window = Readings(trial).phases["sustain"].length

    def flagged(share: float) -> list[str]:
        trial.clocks = {"b": Clock(10.0, share * window)}
        return [flag for flag in flags_of(Readings(trial, (1,))) if "clock" in flag]

    assert flagged(0.009) == []
    (flag,) = flagged(0.011)
    assert flag.startswith("the clock of host b is known to") and "more than 1%" in flag
