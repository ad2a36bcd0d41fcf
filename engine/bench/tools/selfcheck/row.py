"""One row of the self-check: a known figure, and the same figure as the suite measures it."""

from collections.abc import Sequence
from math import hypot, pi, sqrt
from statistics import median

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.spread import Spread, spread

TOLERANCE = 0.05
SURE = 2.0  # standard errors


class Row(BaseModel):
    """`known` and `seen`: one value per round, in `unit`. `ratio`: seen / known of the rounds.

    `error`: the standard error of the median of `seen`, where it is of samples; else 0.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    unit: str
    known: list[float]
    seen: list[float]
    ratio: Spread
    error: float = 0.0

    def holds(self, tolerance: float = TOLERANCE) -> bool:
        """Whether the measured value is the known one, within a share of it and its error."""
        if self.ratio.median is not None:
            within = tolerance + SURE * self.error / abs(median(self.known))
            return abs(self.ratio.median - 1) <= within
        return abs(median(self.seen) - median(self.known)) <= SURE * self.error


def row(
    name: str,
    unit: str,
    known: Sequence[float],
    seen: Sequence[float],
    errors: Sequence[float] = (),
) -> Row:
    """A row of the self-check from the values of its rounds. `errors`: of each seen value.

    A median of many normal values has sqrt(pi / 2) times the error of their mean; of two it is the
    mean.
    """
    of_median = sqrt(pi / 2) if len(errors) > 2 else 1.0
    ratios = [above / below if below else None for below, above in zip(known, seen, strict=True)]
    return Row(
        name=name,
        unit=unit,
        known=list(known),
        seen=list(seen),
        ratio=spread(ratios, "1", "nothing is known to be added"),
        error=of_median * hypot(*errors) / (len(errors) or 1),
    )
