"""Mixed traffic through a device, in rising steps."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from stackcost.contracts.counts import StoredData
from stackcost.contracts.load.base import Flag
from stackcost.contracts.load.profile import ProfileTraffic
from stackcost.contracts.window import Window


@dataclass
class MixStep(StoredData):
    """One load of mixed traffic, in flows/s, and the window in which it was watched."""

    flows_per_second: float
    window: Window


@dataclass(kw_only=True)
class MixedLoad(ProfileTraffic):
    """Mixed traffic in rising steps, and last at half of the highest whole load.

    `steps`: those that came to their end, in order.
    """

    flags: ClassVar[tuple[Flag, ...]] = ("suspended",)  # it rises until the device loses some

    kind: Literal["mix"] = "mix"
    steps: list[MixStep] = field(default_factory=list)
