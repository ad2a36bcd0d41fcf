"""What a run does and what is left of it, without a run; the clock is the test's."""

import time

import pytest

from stackcost.session.progress import SET_UP, Now, Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the clock shows."""
    shows = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: shows[0])
    return shows


def left(progress: Progress) -> tuple[float, float, float]:
    """Seconds that have passed, that are left of the turn and of the whole."""
    now = progress.now()
    return now.passed_s, now.turn_left_s, now.left_s


def test_time_passes_by_the_clock_within_a_step_and_never_into_the_next(clock: list[float]) -> None:
    progress = Progress()
    progress.expect([10, 20])
    with progress.turn("round 1 of 1, a", "a", 2):
        assert left(progress) == (0, 10, 30)
        clock[0] += 1
        assert left(progress) == (1, 9, 29)
        clock[0] += 1
        assert left(progress) == (2, 8, 28)
        with progress.trial("first", 3):
            clock[0] += 1
            assert left(progress) == (3, 7, 27)
            clock[0] += 2
        assert left(progress) == (5, 5, 25)
    assert left(progress) == (5, 0, 20), "a turn that had less to do"
    with progress.turn("round 1 of 1, b", "b", 2):
        assert left(progress) == (5, 20, 20)


def test_what_is_left_learns_from_what_the_steps_took(clock: list[float]) -> None:
    """2:31 was said to be left at 40 s of a run of 670 s, and 2:10 at 325 s."""
    progress = Progress()
    progress.expect([100] * 10)
    said = []
    for _ in range(10):
        with progress.turn("a", "a", 10):
            clock[0] += 30  # each step takes three times its plan
            for _ in range(9):
                with progress.trial("first", 10):
                    clock[0] += 30
        said.append(left(progress)[2])
    true = [300.0 * left for left in range(9, -1, -1)]
    assert said == pytest.approx(true, rel=0.1), "of what was said at first, a third"


def test_a_repeat_comes_on_top_and_the_rest_is_expected_to_have_as_many(clock: list[float]) -> None:
    progress = Progress()
    progress.expect([100])
    with progress.turn("a", "a", 0):
        for again in ("", ", again"):
            with progress.trial("first", 40, again):
                clock[0] += 40
        assert left(progress)[0] == 80
        assert left(progress)[1] == pytest.approx(60 * 80 / 40, rel=0.01)


def test_of_a_busy_machine_it_is_right_within_a_quarter_after_a_few_trials(
    clock: list[float],
) -> None:
    """What took how many times as long as planned is of a run beside a program that took half of a
    core; there 3:36 were said to be left at 13 s, and 8:22 were.
    """
    progress, said = Progress(), list[tuple[float, float]]()
    loads = {"hold": 22.8, "load": 16.5}
    progress.expect([39.0, 23.0] + [{SET_UP: 6.0} | loads] * 4)

    def take(seconds: float) -> None:
        said.append((clock[0], left(progress)[2]))
        clock[0] += seconds

    for number, trials in enumerate((9, 4)):
        with progress.turn("search", "a", 6):
            take(2.5 * 6)
            with progress.search(33.0 - 16 * number) as search:
                for at in range(trials):
                    for again in ("", ", again")[: 1 + (at % 4 == 3)]:
                        with progress.trial("some", 3.7, again, "search"):
                            take(1.15 * 3.7)
                search.left_s = 0.0
    for _ in range(4):
        with progress.turn("round", "a", 6):
            take(2.5 * 6)
            for at, seconds in enumerate([1.1, 4.4, 10.1, 6.1, 1.1] + [5.5] * 3):
                kind, longer = ("hold", 1.2) if at < 5 else ("load", 1.6)
                for again in ("", ", again")[: 1 + (at % 4 == 2)]:
                    with progress.trial("some", seconds, again, kind):
                        take(longer * seconds)
    end, known = clock[0], said[4:-4]
    assert len(known) > 40
    for at, told in known:
        assert told == pytest.approx(end - at, rel=0.25), (
            f"at {at - 1000:.0f} s of {end - 1000:.0f}"
        )


def test_what_undoing_a_test_bed_takes_is_time_of_the_next_one(clock: list[float]) -> None:
    progress = Progress()
    progress.expect([10.0] * 10)
    for _ in range(4):
        with progress.turn("a", "a", 5):
            assert left(progress)[0] == clock[0] - 1000
            clock[0] += 5
            with progress.trial("first", 5):
                clock[0] += 5
        clock[0] += 15  # programs end, namespaces are deleted
    assert left(progress)[2] == pytest.approx(6 * 25, rel=0.25), "25 s a turn"


def test_a_search_corrects_what_it_takes_and_what_follows_keeps_its_time(
    clock: list[float],
) -> None:
    progress = Progress()
    progress.expect([20, 100])
    with progress.turn("a", "a", 0):
        with progress.search(12) as search:
            assert left(progress)[1:] == (20, 120)
            with progress.trial("first", 2):
                assert left(progress)[1:] == (20, 120)
            search.left_s = 30
            with progress.trial("second", 2):
                assert left(progress)[1:] == (38, 138)
            with progress.trial("second", 2, ", again"):
                assert left(progress)[1:] == (38, 138)
        with progress.trial("after the search", 8):
            assert left(progress)[1:] == (8, 108)


def test_a_listener_gets_what_is_done_each_time_that_it_changes(clock: list[float]) -> None:
    progress, told = Progress(), list[Now]()
    progress.expect([10, 20])
    progress.subscribe(told.append)
    with progress.turn("round 1 of 1, a", "a", 2):
        progress.say("server")
        with progress.trial("1,000 connections/s", 3, ", repeated"):
            pass
    server, trial = told
    assert (server.system, server.number, server.of) == ("a", 1, 2)
    assert (server.turn, server.doing, server.load) == ("round 1 of 1, a", "server", "")
    assert (trial.load, trial.doing) == ("1,000 connections/s", "1,000 connections/s, repeated")
    assert progress.now().load == "", "the trial is over"


def test_without_a_plan_there_is_what_goes_on(clock: list[float]) -> None:
    progress = Progress()
    with progress.turn("a", "a", 2):
        assert left(progress) == (0, 2, 2)
        with progress.trial("first", 3):
            assert left(progress) == (0, 3, 3)
    assert progress.now().of == 1
