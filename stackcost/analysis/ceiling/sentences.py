"""The answer in sentences."""

from collections.abc import Sequence

from stackcost.analysis.ceiling.bottleneck import Bottleneck
from stackcost.analysis.ceiling.summary import Rate, TwinTrial


def ceiling_sentence(
    server: str,
    unit: str,
    rates: Sequence[Rate],
    complete: bool,
    at_least: str,
    bottleneck: Bottleneck | None,
) -> str:
    """How much a server holds, what of it is uncertain, and what gave way first."""
    found = "; ".join(_rate(rate, unit, bool(at_least)) for rate in rates)
    text = f"{server}: {found}."
    if not complete:
        text += " The search was cut short: these are the bounds until then."
    if at_least:
        text += f" The true ceiling may be higher: {at_least}."
    if bottleneck:
        text += f" What gave way first (trial {bottleneck.trial}): {bottleneck.sentence}."
    return text


def twin_sentence(carried: float | None, trials: Sequence[TwinTrial], unit: str) -> str:
    """What generator and wire can do."""
    highest = max(trials, key=lambda trial: trial.load)
    busy = next((t.generator_busy for t in reversed(trials) if t.load == carried), None)
    generator = "" if busy is None else f", the generator {busy:.0%} busy"
    if carried is None:
        lowest = min(trials, key=lambda trial: trial.load)
        return (
            f"Over the same path a peer without a server's work lost {lowest.loss_ratio:.2%} of "
            f"{lowest.load:,.0f} {unit}"
        )
    text = (
        f"Over the same path a peer without a server's work took {carried:,.0f} {unit} without "
        f"loss{generator}"
    )
    if highest.load > carried:
        text += f"; it lost {highest.loss_ratio:.2%} of {highest.load:,.0f}"
    return text


def _rate(rate: Rate, unit: str, at_least: bool) -> str:
    allowed = "without loss" if not rate.loss_ratio else f"with {rate.loss_ratio:.1%} lost at most"
    if rate.value is None:
        up_to = "" if rate.upper is None else f", not even {rate.upper:,.0f}"
        return f"{rate.name}: no load was held {allowed}{up_to}"
    more = "at least " if at_least else ""
    bounds = f"{rate.lower:,.0f} held, "
    bounds += f"{rate.upper:,.0f} not" if rate.upper is not None else "no load above it lost more"
    return f"{rate.name} {more}{rate.value:,.0f} {unit} {allowed} ({bounds})"
