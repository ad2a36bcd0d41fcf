"""A step of a search for a ceiling."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from stackcost.contracts.counts import StoredData
from stackcost.contracts.load.base import Load
from stackcost.contracts.load.constant import ConstantLoad
from stackcost.contracts.load.held import HeldFlows

CeilingKind = Literal["connections", "flows", "requests"]  # what a search finds the ceiling of


@dataclass
class Loss(StoredData):
    """What a step of a search was to offer and lost of it, in the unit of what is searched for.

    `lost_by`: by cause; docs/metrics.md defines it. A connection may be in two causes, so the sum
    may be larger than `lost`. `disturbed`: why the trial was worth a repeat, as judged when it was
    over; what a search did next rests on it.
    """

    intended: int
    lost: int
    lost_by: dict[str, int]
    disturbed: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class SearchStep(Load):
    """A trial of a search for the ceiling `of` something, at one `load`.

    `load`: connections/s, requests/s or open flows. `offered`: the same as a load of its own, with
    what was read. `duration_s`: seconds for which it was offered, or flows were held. `repeat`: 0,
    or which repeat of a disturbed trial. `reference`: whether it was offered to the server's
    reference system, after the search. `loss`: None: it was cut short.

    ValueError when `offered` is not what a search of `of` offers.
    """

    kind: Literal["search"] = "search"
    of: CeilingKind
    load: float
    duration_s: float
    offered: Annotated[ConstantLoad | HeldFlows, Field(discriminator="kind")]
    repeat: int = 0
    reference: bool = False
    loss: Loss | None = None

    def __post_init__(self) -> None:
        if (self.of == "flows") is not self.offered.holds:
            raise ValueError(f"a search of {self.of} does not offer a {self.offered.kind}")

    @property
    def traffic(self) -> Load:
        """What the step offers."""
        return self.offered
