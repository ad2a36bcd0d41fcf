"""The one loop that waits, on a clock of the test's own."""

import pytest

from stackcost.host import waiting


class Clock:
    """Goes on by sleeping alone."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(waiting, "time", made)
    return made


@pytest.mark.parametrize(("at_s", "reached"), [(0, True), (0.9, True), (1, True), (1.1, False)])
def test_what_comes_about_within_the_limit_is_reached(
    clock: Clock, at_s: float, reached: bool
) -> None:
    began = clock.now
    assert waiting.wait_until(lambda: clock.now - began >= at_s, limit_s=1, poll_s=0.25) is reached
    assert clock.now - began == pytest.approx(min(1, -(-at_s // 0.25) * 0.25))


def test_it_is_asked_once_when_there_is_no_time(clock: Clock) -> None:
    asked: list[int] = []
    assert not waiting.wait_until(lambda: asked.append(1), limit_s=0)
    assert asked == [1] and clock.now == 100
