"""The results of a search in sentences."""

from collections.abc import Sequence

from stackcost.analysis.ceiling.bottleneck import Bottleneck
from stackcost.analysis.ceiling.summary import Rate, ReferenceTrial, Stopped


def ceiling_sentences(
    server: str,
    unit: str,
    rates: Sequence[Rate],
    complete: bool,
    at_least: str,
    bottleneck: Bottleneck | None,
    tried: Sequence[tuple[float, float]],
    stopped: Stopped | None = None,
) -> tuple[str, str]:
    """The ceiling of a server and its uncertainty, or why there is none; and the reasons for it.

    `tried`: load and loss ratio of each trial that counts.
    """
    if stopped:
        return _stopped_sentences(server, unit, rates, stopped, bottleneck)
    found = [
        _rate(rate, unit, bool(at_least))
        if complete or rate.value is not None
        else _so_far(rate, unit, tried)
        for rate in rates
    ]
    reasons = []
    if not complete:
        reasons.append("The search was interrupted: this is what was found until then.")
    if at_least:
        reasons.append(f"The true ceiling may be higher: {at_least}.")
    if bottleneck:
        reasons.append(f"Bottleneck (trial {bottleneck.trial}): {bottleneck.sentence}.")
    return f"{server}: {'; '.join(found)}.", " ".join(reasons)


def reference_sentence(carried: float | None, trials: Sequence[ReferenceTrial], unit: str) -> str:
    """The ceiling of the generator and the path without a server's work."""
    highest = max(trials, key=lambda trial: trial.load)
    busy = next((t.generator_busy for t in reversed(trials) if t.load == carried), None)
    generator = "" if busy is None else f" (the generator was {busy:.0%} busy)"
    if carried is None:
        lowest = min(trials, key=lambda trial: trial.load)
        return (
            f"Reference over the same path: a peer that does no server's work lost "
            f"{lowest.loss_ratio:.2%} of {lowest.load:,.0f} {unit}"
        )
    text = (
        f"Reference over the same path: a peer that does no server's work held {carried:,.0f} "
        f"{unit} without loss{generator}"
    )
    if highest.load > carried:
        text += f"; it lost {highest.loss_ratio:.2%} of {highest.load:,.0f}"
    return text


def _stopped_sentences(
    server: str,
    unit: str,
    rates: Sequence[Rate],
    stopped: Stopped,
    bottleneck: Bottleneck | None,
) -> tuple[str, str]:
    text = f"{server}: no ceiling, as nothing passed any more after trial {stopped.after}"
    if bottleneck:
        text += f": {bottleneck.sentence} (trial {bottleneck.trial})"
    were = "was" if len(stopped.held) == 1 else "were"
    reasons = f"Before, {_listed(stopped.held)} {unit} {were} held."
    known = [_rate(rate, unit, False) for rate in rates if rate.value is not None]
    reasons += f" Bounds found until then: {'; '.join(known)}." if known else ""
    return f"{text}.", reasons


def _listed(loads: Sequence[float]) -> str:
    *others, last = [f"{load:,.0f}" for load in loads]
    return f"{', '.join(others)} and {last}" if others else last


def _allowed(rate: Rate) -> str:
    return "without loss" if not rate.loss_ratio else f"with at most {rate.loss_ratio:.1%} loss"


def _so_far(rate: Rate, unit: str, tried: Sequence[tuple[float, float]]) -> str:
    """What single trials show of a rate whose bounds the search had not confirmed."""
    lossy = {load for load, ratio in tried if ratio > rate.loss_ratio}
    held = {load for load, _ in tried} - lossy
    if rate.upper is not None:
        held = {load for load in held if load < rate.upper}
    if not held:
        lowest = f", not even {min(lossy):,.0f} {unit}" if lossy else ""
        return f"{rate.name}: no load was held {_allowed(rate)} yet{lowest}"
    above = [load for load in lossy if load > max(held)]
    beyond = f", {min(above):,.0f} were not" if above else ""
    return (
        f"{rate.name} was not found yet: {max(held):,.0f} {unit} were held {_allowed(rate)}{beyond}"
    )


def _rate(rate: Rate, unit: str, at_least: bool) -> str:
    if rate.value is None:
        up_to = "" if rate.upper is None else f", not even {rate.upper:,.0f} {unit}"
        return f"{rate.name}: no load was held {_allowed(rate)}{up_to}"
    more = "at least " if at_least else ""
    limits = _limits(rate, at_least)
    return f"{rate.name} {more}{rate.value:,.0f} {unit} {_allowed(rate)} ({limits})"


def _limits(rate: Rate, at_least: bool) -> str:
    """The interval; without one, which loads were held and not held.

    If something else than the server was the limit, the interval is not of the server.
    """
    known = rate.low is not None and rate.high is not None and rate.coverage is not None
    if known and not at_least:
        interval = f"{rate.coverage:.0%} interval {rate.low:,.0f} to {rate.high:,.0f}"
        return (
            f"{interval} of this session; of sessions 4% apart it has the mean 4 to 6 times in 10"
        )
    held = f"{rate.lower:,.0f} held, "
    if rate.upper is None:
        return f"{held}no higher load lost more"
    return f"{held}{rate.upper:,.0f} not held"
