"""The ceilings of a run as data: what its `summary.json` holds."""

from collections.abc import Iterator
from typing import Literal

from stackcost.analysis.ceiling.bottleneck import Bottleneck
from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.analysis.head import Figures, Flagged, Head, SummaryPart, SystemFigure
from stackcost.analysis.spread import Spread
from stackcost.contracts.load import CeilingKind


class Rate(SummaryPart):
    """One goal's result; loads in the unit of the ceiling.

    `value`: the rate to quote, MLRsearch's conditional throughput: what is not lost of the load
    `lower`, which meets the goal; None when no load did. `upper`: the lowest load that does not
    meet it; None when every load did. `low` to `high`: the interval of the ceiling, from all trials
    of the search; `coverage`: the share (0 to 1) of searches in which such an interval has the true
    one in it. All three are None without bounds, and if every trial that lost too much was
    disturbed.
    """

    name: Literal["NDR", "PDR"]
    loss_ratio: float
    value: float | None
    lower: float | None
    upper: float | None
    low: float | None = None
    high: float | None = None
    coverage: float | None = None


class ReferenceTrial(SummaryPart):
    """A trial of the reference system: the load that was offered, and what was lost of it."""

    number: int
    load: float
    loss_ratio: float
    generator_busy: float | None


class Reference(SummaryPart):
    """What the same generator carried over the same wire to a peer that does no server's work.

    `carried`: the highest load of which the reference system lost nothing; None when it lost some
    of each.
    """

    carried: float | None
    trials: list[ReferenceTrial]
    sentence: str


class TraceRow(SummaryPart):
    """One trial of a search, kept whatever it showed; loads in the unit of the ceiling.

    `repeat`: 0, or which repeat of the trial before it this is; `decisive`: whether it is the one
    that the search went on with. `disturbed`: why it was repeated, if it lost something.
    """

    number: int
    load: float
    duration_s: float
    intended: int
    lost: int
    loss_ratio: float
    lost_by: dict[str, int]
    repeat: int
    decisive: bool
    disturbed: list[str]
    flags: list[str]


class Stopped(SummaryPart):
    """A system that passed nothing any more from a trial of its search on, though it had before.

    `after`: the number of the last trial in which something passed. `held`: the loads that were
    held until then, in the unit of the ceiling, rising.
    """

    after: int
    held: list[float]


class Ceiling(SummaryPart):
    """One search. `round`: which search for the same thing it is, from 1.

    `at_least`: why the true ceiling may be higher; empty when it may not. `sentence` says all of
    it, and `bounds` is how it begins: the result without reasons. `complete`: False for a search
    that was cut short; its bounds are those known until then.
    `expected`: the ceiling that the device's configuration expects. `stopped`: the system failed in
    the search, so that there is no ceiling; `rates` are those known until then.
    """

    server: str
    of: CeilingKind
    unit: str
    round: int
    complete: bool
    settings: SearchSettings
    rates: list[Rate]
    at_least: str
    bottleneck: Bottleneck | None
    reference: Reference | None
    sentence: str
    bounds: str = ""
    seconds: float
    trace: list[TraceRow]
    expected: float | None = None
    stopped: Stopped | None = None


class RepeatedCeiling(SummaryPart):
    """A ceiling that was found several times.

    `range_share`: highest less lowest, as a share of the median. `wanted_share`: what that should
    stay within; `sentence` says whether it does, and what disturbed the searches if it does not.
    """

    server: str
    of: CeilingKind
    rate: Literal["NDR", "PDR"]
    values: Spread
    range_share: float
    wanted_share: float
    sentence: str


class CeilingSummary(Head):
    """One run of searches. `found`: the figures of each system, of all its searches."""

    format: Literal["stackcost-ceiling/3"] = "stackcost-ceiling/3"
    found: dict[str, Figures]
    ceilings: list[Ceiling]
    repeated: list[RepeatedCeiling]

    @property
    def systems(self) -> list[str]:
        """The names of the systems that were searched."""
        return list(self.found)

    def system_figures(self) -> Iterator[SystemFigure]:
        """All figures of all systems."""
        for system, own in self.found.items():
            for name, spread in own.figures.items():
                yield SystemFigure(system, name, None, spread, "every search")

    def used_trials(self) -> Iterator[Flagged]:
        """The trials that the searches went on with, with their flags."""
        for ceiling in self.ceilings:
            yield from (Flagged(ceiling.server, row.flags) for row in ceiling.trace if row.decisive)
