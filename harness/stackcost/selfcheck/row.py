"""One row of the self-check: a known figure, and the same figure as the suite measures it."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.spread import Spread, spread

TOLERANCE = 0.05


class Row(BaseModel):
    """`known` and `seen`: one value per round, in `unit`. `ratio`: seen / known of the rounds."""

    model_config = ConfigDict(frozen=True)

    name: str
    unit: str
    known: list[float]
    seen: list[float]
    ratio: Spread

    def holds(self, tolerance: float = TOLERANCE) -> bool:
        """Whether the measured value is the known one, within a share of it."""
        return self.ratio.median is not None and abs(self.ratio.median - 1) <= tolerance


def row(name: str, unit: str, known: Sequence[float], seen: Sequence[float]) -> Row:
    """A row of the self-check from the values of its rounds."""
    ratios = [of_seen / of_known for of_known, of_seen in zip(known, seen, strict=True)]
    return Row(name=name, unit=unit, known=list(known), seen=list(seen), ratio=spread(ratios, "1"))
