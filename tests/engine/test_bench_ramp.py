"""What a row of the benchmark reads off a load that grows."""

from types import ModuleType

import pytest

from tests.trex.conftest import REPOSITORY

SECONDS = [  # offered, opened, closed a second; failures so far
    (50_000, 50_000, 50_000, 0),
    (100_000, 100_000, 99_000, 0),
    (150_000, 149_000, 148_000, 7),
    (200_000, 180_000, 179_000, 900),
    (250_000, 230_000, 190_000, 5000),
]


@pytest.fixture
def ramp(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(REPOSITORY / "engine" / "bench")
    from tools import ramp

    return ramp


def test_none_is_lost_up_to_the_first_failure(ramp: ModuleType) -> None:
    assert ramp.none_lost([ramp.Second(*one) for one in SECONDS]) == 99_000
    assert ramp.none_lost([ramp.Second(*one) for one in SECONDS[2:]]) == 0
    caught_up = ramp.Second(120_000, 160_000, 160_000, 0)  # what the second before had left
    assert ramp.none_lost([*(ramp.Second(*one) for one in SECONDS[:2]), caught_up]) == 99_000
    slower = ramp.Second(200_000, 90_000, 90_000, 0)  # under more than it keeps up with
    assert ramp.none_lost([*(ramp.Second(*one) for one in SECONDS[:2]), slower]) == 99_000


def test_losses_are_allowed_where_as_many_close_as_open(ramp: ModuleType) -> None:
    seconds = [ramp.Second(*one) for one in SECONDS]
    assert ramp.losses_allowed(seconds) == 179_000
    assert ramp.losses_allowed(seconds[4:]) == 0
    assert ramp.losses_allowed([ramp.Second(120_000, 160_000, 160_000, 9)]) == 120_000
    assert [one.keeps_up for one in seconds] == [True, True, True, False, False]
