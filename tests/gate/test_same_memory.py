"""What is corrected for the memory that all cores of a host share."""

import random

import pytest

from harness.gate.same_memory import MOST_FELT, at_same_memory
from harness.gate.trial import GateTrial
from harness.gate.verdict import against_baseline


def trials(
    number: int,
    cps: float,
    usual_ns: float = 250.0,
    felt: float = 0.8,
    seed: int = 1,
    noise: float = 0.02,
) -> list[GateTrial]:
    """Of a server of whose connections a load that is twice as long makes each 2 ** felt dearer."""
    drawn = random.Random(seed)
    made = []
    for _ in range(number):
        load_ns = usual_ns * drawn.uniform(0.9, 1.3)
        rate = cps * (load_ns / 250.0) ** -felt * drawn.gauss(1, noise)
        made.append(
            GateTrial(cps=rate, completed_cps=5000, offered_cps=5000, cpu={}, load_ns=load_ns)
        )
    return made


def test_what_a_server_feels_is_found_within_the_groups_and_taken_off() -> None:
    same = at_same_memory(trials(14, 10_000), trials(14, 9000, usual_ns=300, seed=2))
    assert same.felt == pytest.approx(0.8, abs=0.15) and same.slower == pytest.approx(0.2, abs=0.1)
    medians = [sorted(t.cps for t in group)[7] for group in (same.baseline, same.now)]
    assert medians[1] / medians[0] == pytest.approx(0.9, abs=0.03)  # the server's own part stays


def test_slower_memory_is_not_a_slower_server_and_a_slower_server_is_found_beside_it() -> None:
    before = trials(14, 10_000)
    as_before = against_baseline(before, trials(14, 10_000, usual_ns=320, seed=2), 0.05, 0.01)
    slower = against_baseline(before, trials(14, 9000, usual_ns=200, seed=3), 0.05, 0.01)
    assert (as_before.outcome, slower.outcome) == ("holds", "below")


def test_what_memory_does_not_explain_is_left_alone() -> None:
    unmoved = trials(14, 10_000, felt=0.0, noise=0.0)
    assert at_same_memory(unmoved, unmoved).felt == pytest.approx(0.0, abs=1e-9)
    faster = trials(14, 10_000, felt=-1.0)  # dearer with faster memory: by chance alone
    assert at_same_memory(faster, faster) == (faster, faster, 0.0, 0.0, 0.0)
    assert at_same_memory(trials(14, 10_000, felt=4.0), []).felt == 0.0  # nothing to compare
    far = trials(14, 10_000, felt=4.0)
    assert at_same_memory(far, far).felt == MOST_FELT


def test_without_a_reading_of_memory_nothing_is_corrected() -> None:
    before, now = trials(6, 10_000), trials(6, 9000)
    now[3] = now[3].model_copy(update={"load_ns": None})
    assert at_same_memory(before, now) == (before, now, 0.0, 0.0, 0.0)


def test_what_is_known_of_it_too_roughly_is_no_verdict() -> None:
    """Memory twice as slow as at the baseline, within which it hardly moved."""
    before = [t.model_copy(update={"load_ns": 250 + t.cps % 7}) for t in trials(6, 10_000, felt=0)]
    far = [t.model_copy(update={"load_ns": 500 + t.cps % 7}) for t in trials(6, 9000, felt=0)]
    near = [t.model_copy(update={"load_ns": 252.0}) for t in far]
    assert against_baseline(before, near, 0.05, 0.01).outcome == "below"
    unsure = against_baseline(before, far, 0.05, 0.01)
    assert unsure.outcome == "cannot tell" and "memory is +100%" in unsure.why
