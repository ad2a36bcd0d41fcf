"""The highest offered load that two engines keep up with, one as client and one as server."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from stackcost.contracts.errors import StackcostError
from tools.engine import OVERLOAD_CPS, Driven, Rates, load, rates_at, serving

STEP = 0.05  # the search ends when the least rate refused is so little above the highest kept
LEAST_CPS = 1_000
KEPT = 0.98  # of the connections offered: with fewer the rate is not kept
TRIES = 3  # of a rate: a host that takes a core away for some milliseconds loses frames at any
DEFINITION = (
    f"the highest offered load, to {STEP:.0%}, of which {KEPT:.0%} was completed, no failed flow, "
    f"no segment sent twice, in one of {TRIES} tries"
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Client and server of one profile."""

    client: Driven
    server: Driven
    profile: str
    tunables: dict[str, Any] = field(default_factory=dict)

    def highest(self, most: float = OVERLOAD_CPS) -> Rates:
        """Rates at the highest load kept up with, by bisection up to `most` connections/s.

        A load beyond what the server's end can do fills the rings, and frames are lost.
        """
        load(self.client, self.profile, self.tunables)
        kept, low, high = None, 0.0, float(most)
        while high - low > STEP * high:
            offered = (low + high) / 2
            try:
                kept, low = self._in_one_try(offered), offered
            except StackcostError as reason:
                high = offered
                if high < LEAST_CPS:
                    raise StackcostError(f"{reason}: do others use these CPUs?") from reason
        assert kept is not None
        return kept

    def _in_one_try(self, offered: float) -> Rates:
        """Rates at an offered load in the first try that keeps up with it."""
        for _ in range(TRIES - 1):
            with suppress(StackcostError):
                return self._at_load(offered)
        return self._at_load(offered)

    def _at_load(self, offered: float) -> Rates:
        """Rates at an offered load; StackcostError when it was not kept up with.

        The server begins anew each time: flows that the client left in mid-air are in nobody's way.
        """
        what = f"{offered:,.0f} connections/s"
        with serving(self.server, self.profile, self.tunables):
            seen = rates_at(self.client, offered, what)
        if seen.connections < KEPT * offered:
            raise StackcostError(f"{what}: {seen.connections:,.0f} were completed")
        return seen
