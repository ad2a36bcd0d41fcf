"""A row holds within a share of what is known, and within what its samples leave open."""

from engine.bench.tools.selfcheck.row import row


def test_a_value_of_samples_holds_within_its_error_over_all_rounds() -> None:
    within = row("made", "us", [10, 10], [12, 12], errors=[1.2, 1.2])
    assert within.holds(0.05)  # 20 % are 5 % and twice 0.85 of 10
    assert not row("made", "us", [10, 10], [12, 12], errors=[0.5, 0.5]).holds(0.05)
    assert not row("made", "us", [10, 10], [12, 12]).holds(0.05)


def test_the_median_of_many_rounds_is_less_sure_than_their_mean() -> None:
    rounds = row("made", "us", [10] * 5, [12] * 5, errors=[1.5] * 5)
    assert 1.25 * 1.5 / 5**0.5 < rounds.error < 1.26 * 1.5 / 5**0.5


def test_where_nothing_is_known_to_be_added_only_the_error_counts() -> None:
    assert row("made", "us", [0, 0, 0], [0.3, -0.2, 0.1], errors=[0.2, 0.2, 0.2]).holds()
    assert not row("made", "us", [0, 0, 0], [0.5, 0.6, 0.7], errors=[0.2, 0.2, 0.2]).holds()
