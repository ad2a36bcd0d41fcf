"""Figures as text, the same on the terminal and in the report."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stackcost.analysis.trial.thresholds import CONFIDENCE

if TYPE_CHECKING:  # numpy takes a fifth of a second, which a list of runs does not need
    from stackcost.analysis.comparing.comparison import Comparison
    from stackcost.analysis.spread import Spread

UNKNOWN = "n/a"
INTERVAL = "95 % interval; below 6 rounds the range"  # the interval of `Spread` and figures
MILLISECONDS_FROM_US = 10_000  # a table with a longer time is in milliseconds
MANY_TIMES = 10.0  # a ratio from which a change is a factor, not a percentage


def number(value: float | None) -> str:
    """Three significant digits, with commas between thousands; "n/a" for unknown."""
    if value is None:
        return UNKNOWN
    size = abs(value)
    if size >= 99.95 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def with_range(spread: "Spread | None") -> str:
    """Median, and minimum to maximum when there is more than one value."""
    if spread is None or spread.median is None:
        return UNKNOWN
    if len(spread.values) < 2:
        return number(spread.median)
    return f"{number(spread.median)} ({_span(spread.minimum, spread.maximum)})"


class LatencyUnit:
    """One unit for all times of a table: milliseconds when one of them is 10 ms or longer.

    `known`: whether the table has any time.
    The histograms have three significant digits, so four digits of microseconds say no more.
    """

    def __init__(self, times_us: Iterable["Spread"]):
        known = [spread.median for spread in times_us if spread.median is not None]
        self.known = bool(known)
        self.unit = "ms" if max(known, default=0.0) >= MILLISECONDS_FROM_US else "us"

    def with_range(self, times_us: "Spread") -> str:
        """Median and range in this unit, as text."""
        if self.unit == "us":
            return with_range(times_us)
        ends = {name: getattr(times_us, name) for name in ("median", "minimum", "maximum")}
        scaled = {name: None if value is None else value / 1000 for name, value in ends.items()}
        return with_range(times_us.model_copy(update=scaled))

    def median(self, times_us: "Spread | None") -> str:
        """The median alone, in this unit, as text."""
        return self.with_range(times_us.model_copy(update={"values": []})) if times_us else ""


def range_or_reason(spread: "Spread") -> str:
    """`with_range`; of an unknown figure with the reason."""
    if spread.median is None and spread.reason:
        return f"{UNKNOWN}: {spread.reason}"
    return with_range(spread)


def _span(low: float | None, high: float | None) -> str:
    """Both ends of a range; with a negative number "to" is easier to read than a minus."""
    between = " to " if low is not None and low < 0 else "-"
    return f"{number(low)}{between}{number(high)}"


def pair(above: str, below: str) -> str:
    """The two systems of a ratio; if they are of the same run, the run is named once."""
    run, _, name = above.partition(": ")
    return f"{above} : {below.removeprefix(f'{run}: ') if name else below}"


def share(value: float | None) -> str:
    """A share of 0 to 1 as percent."""
    return UNKNOWN if value is None else f"{value:.1%}"


def factor(spread: "Spread") -> str:
    """A ratio with its interval, or the reason why there is none."""
    if spread.median is None:
        return f"{UNKNOWN}: {spread.reason}"
    return f"{number(spread.median)}x ({_uncertainty(spread)})"


def with_interval(spread: "Spread") -> str:
    """Median and its interval, or the reason why there is none."""
    if spread.median is None:
        return UNKNOWN
    return f"{number(spread.median)} ({_uncertainty(spread)})"


def _uncertainty(spread: "Spread") -> str:
    """The interval of the true value, and its coverage, which is low with few rounds."""
    if spread.coverage is None:
        return spread.reason
    span = f"range of {len(spread.values)} rounds {_span(spread.minimum, spread.maximum)}"
    if spread.coverage < CONFIDENCE:
        return f"{span}, which contains the true median in {percent(spread.coverage)} of cases"
    return f"{percent(spread.coverage)} interval {_span(spread.low, spread.high)}, {span}"


def change(ratio: float, low: float | None, high: float | None, coverage: float | None) -> str:
    """A ratio as a change in percent, with its interval, and its coverage if below 95 %.

    From `MANY_TIMES` on it is given as a factor: +138841.8 % says little.
    """
    text = _change(ratio)
    if low is None or high is None or coverage is None:
        return text
    poor = f", in {percent(coverage)} of cases" if coverage < CONFIDENCE else ""
    return f"{text} ({_change(low)} to {_change(high)}{poor})"


def _change(ratio: float, digits: int = 1) -> str:
    return f"{ratio - 1:+.{digits}%}" if ratio < MANY_TIMES else f"{number(ratio)} times"


def change_of(found: "Comparison") -> str:
    """The change from A to B, with its interval; a count has none, and a digit more."""
    if found.ratio is None:
        return UNKNOWN
    if found.counted:
        return _change(found.ratio, digits=2)
    return change(found.ratio, found.low, found.high, found.coverage)


def verdict_of(found: "Comparison") -> str:
    """The verdict with its reason, and with the difference that the trials could have shown."""
    text = f"{found.verdict}: {found.reason}" if found.reason else found.verdict
    if found.verdict == "no difference shown" and found.detectable is not None:
        return f"{text} (a difference of {found.detectable:.1%} would be shown in 9 of 10 cases)"
    return text


def percent(value: float) -> str:
    """A share of 0 to 1 with three digits, as in running text."""
    return f"{100 * value:.3g} %"


def size(value: float | None) -> str:
    """Bytes in the binary unit that suits them."""
    if value is None:
        return UNKNOWN
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(value) >= scale:
            return f"{value / scale:.1f} {unit}"
    return f"{round(value)} B"
