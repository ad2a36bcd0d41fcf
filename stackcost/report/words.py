"""Figures as text, the same on the terminal and in the report."""

from stackcost.analysis.comparison import Comparison
from stackcost.analysis.spread import Spread
from stackcost.analysis.thresholds import CONFIDENCE

UNKNOWN = "n/a"
INTERVAL = "interval of 95 %; below 6 rounds their range"  # what `Spread` and figures have
WITHOUT_SENDING = "if handing frames to the wire cost the peer nothing"


def number(value: float | None) -> str:
    """Three significant digits, thousands set apart; "n/a" for unknown."""
    if value is None:
        return UNKNOWN
    size = abs(value)
    if size >= 99.95 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def with_range(spread: Spread) -> str:
    """Median, and minimum to maximum when there is more than one value."""
    if spread.median is None:
        return UNKNOWN
    if len(spread.values) < 2:
        return number(spread.median)
    return f"{number(spread.median)} ({_span(spread.minimum, spread.maximum)})"


def _span(low: float | None, high: float | None) -> str:
    """From one to the other; a minus between two signs could not be read."""
    between = " to " if low is not None and low < 0 else "-"
    return f"{number(low)}{between}{number(high)}"


def pair(above: str, below: str) -> str:
    """What is divided by what; of two systems of the same run, the run is named once."""
    run, _, name = above.partition(": ")
    return f"{above} : {below.removeprefix(f'{run}: ') if name else below}"


def count(number_of: int, one: str, more: str = "") -> str:
    """So many of them, as "1 search" and "2 searches"."""
    return f"{number_of} {one if number_of == 1 else more or one + 's'}"


def share(value: float | None) -> str:
    """A share of 0 to 1 as percent."""
    return UNKNOWN if value is None else f"{value:.1%}"


def factor(spread: Spread) -> str:
    """A ratio with its interval, or the reason why there is none."""
    if spread.median is None:
        return f"{UNKNOWN}: {spread.reason}"
    return f"{number(spread.median)}x ({_uncertainty(spread)})"


def with_interval(spread: Spread) -> str:
    """Median and its interval, or the reason why there is none."""
    if spread.median is None:
        return UNKNOWN
    return f"{number(spread.median)} ({_uncertainty(spread)})"


def _uncertainty(spread: Spread) -> str:
    """How far the true value may be off, and how sure that is; of few rounds it is not very sure.

    A summary of before its intervals stated their coverage has the range alone.
    """
    if len(spread.values) < 2:
        return spread.reason
    span = f"range of {len(spread.values)} rounds {_span(spread.minimum, spread.maximum)}"
    if spread.coverage is None:
        return span
    if spread.coverage < CONFIDENCE:
        return f"{span}, which holds the true median in {percent(spread.coverage)} of cases"
    return f"{percent(spread.coverage)} interval {_span(spread.low, spread.high)}, {span}"


def change(ratio: float, low: float | None, high: float | None, coverage: float | None) -> str:
    """By how much something is above 1, and its interval; its coverage where that is below 95 %."""
    text = f"{ratio - 1:+.1%}"
    if low is None or high is None or coverage is None:
        return text
    poor = f", in {percent(coverage)} of cases" if coverage < CONFIDENCE else ""
    return f"{text} ({low - 1:+.1%} to {high - 1:+.1%}{poor})"


def change_of(found: Comparison) -> str:
    """By how much B is above A, and the interval of that."""
    if found.ratio is None:
        return UNKNOWN
    return change(found.ratio, found.low, found.high, found.coverage)


def verdict_of(found: Comparison) -> str:
    """With its reason, and with what would have been shown where nothing was."""
    text = f"{found.verdict}: {found.reason}" if found.reason else found.verdict
    if found.verdict == "no difference shown" and found.detectable is not None:
        return f"{text} (one of {found.detectable:.1%} would be, nine times in ten)"
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
