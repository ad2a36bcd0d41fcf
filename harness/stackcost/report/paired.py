"""Costs of one run against each other, round by round."""

from collections.abc import Iterable

from stackcost.analysis.comparing.comparison import Comparison, Design, Question, compare_all
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.spread import Spread


def compare_paired(sides: Iterable[tuple[Spread, Spread]]) -> list[Comparison]:
    """Each second one against its first one, corrected for how many there are."""
    return compare_all(
        [Question(Series.of_spread(a), Series.of_spread(b), Design(paired=True)) for a, b in sides]
    )
