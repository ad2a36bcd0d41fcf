"""Which concurrency is found, for servers whose limit is known."""

from collections.abc import Callable, Generator

import pytest

from stackcost.experiment.http_schema import Concurrency
from stackcost.runs.loads.http import find_concurrency


def find(settings: Concurrency, holds: Callable[[int], bool]) -> int:
    """The search as a run goes through it: each trial's result is sent back."""

    def ask(count: int) -> Generator[int, bool, bool]:
        return (yield count)

    steps = find_concurrency(settings, ask)
    try:
        count = next(steps)
        while True:
            count = steps.send(holds(count))
    except StopIteration as end:
        found: int = end.value
        return found


@pytest.mark.parametrize("limit", [9, 70, 512, 513, 2047, 3000])
def test_the_highest_that_holds_is_found_to_a_fraction(limit: int) -> None:
    tried: list[int] = []

    def holds(count: int) -> bool:
        tried.append(count)
        return count <= limit

    settings = Concurrency(p99_below_ms=1000, first=64, most=16_384, steps=3, trial_s=1)
    found = find(settings, holds)
    assert limit / 2 ** (1 / 8) <= found + 1 and found <= limit
    assert len(tried) == len(set(tried)) <= 12


def test_never_more_than_the_most_and_one_when_none_holds() -> None:
    settings = Concurrency(p99_below_ms=1000, first=100, most=350, trial_s=1)
    assert find(settings, lambda count: True) == 350
    assert find(settings, lambda count: False) == 1
