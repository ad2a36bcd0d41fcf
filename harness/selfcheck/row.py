"""One line of the proof: a figure that is known, and the same one as the suite reports it."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.spread import Spread, spread

TOLERANCE = 0.05


class Row(BaseModel):
    """`known` and `seen` hold one value per round, in `unit`; `ratio`: the rounds' seen : known."""

    model_config = ConfigDict(frozen=True)

    name: str
    unit: str
    known: list[float]
    seen: list[float]
    ratio: Spread

    def holds(self, tolerance: float = TOLERANCE) -> bool:
        """Whether what was seen is what was known, within a share of it."""
        return self.ratio.median is not None and abs(self.ratio.median - 1) <= tolerance


def row(name: str, unit: str, known: Sequence[float], seen: Sequence[float]) -> Row:
    """A line of the proof from the values of its rounds."""
    ratios = [of_seen / of_known for of_known, of_seen in zip(known, seen, strict=True)]
    return Row(name=name, unit=unit, known=list(known), seen=list(seen), ratio=spread(ratios, "1"))
