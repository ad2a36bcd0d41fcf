"""One unit for all times of a table."""

from collections.abc import Iterable

from stackcost.analysis.spread import Spread
from stackcost.report.words import with_range

MILLISECONDS_FROM_US = 10_000  # a table with a longer time is in milliseconds


class LatencyUnit:
    """Microseconds, or milliseconds when a time of the table is 10 ms or longer.

    `known`: whether the table has any time.
    The histograms have three significant digits, so four digits of microseconds say no more.
    """

    def __init__(self, times_us: Iterable[Spread]):
        known = [spread.median for spread in times_us if spread.median is not None]
        self.known = bool(known)
        longest = max(known, default=0.0)
        self.unit = "ms" if longest >= MILLISECONDS_FROM_US else "us"
        self._scale = 1000.0 if self.unit == "ms" else 1.0

    def median(self, times_us: Spread | None) -> str:
        """The median alone, in this unit, as text."""
        if times_us is None:
            return ""
        return with_range(self._scaled(times_us.model_copy(update={"values": []})))

    def with_range(self, times_us: Spread) -> str:
        """Median and range in this unit, as text."""
        return with_range(self._scaled(times_us))

    def _scaled(self, times_us: Spread) -> Spread:
        def scaled(value: float | None) -> float | None:
            return None if value is None else value / self._scale

        return times_us.model_copy(
            update={
                "median": scaled(times_us.median),
                "minimum": scaled(times_us.minimum),
                "maximum": scaled(times_us.maximum),
            }
        )
