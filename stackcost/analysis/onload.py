"""How much Onload polled in a trial, in the kernel and in user space, and what it found."""

from collections.abc import Sequence

from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread, spread

METRIC = "onload.counter"
SHOWN = ("k_polls", "u_polls", "rx_evs", "tx_evs")  # Onload's own names


def is_onload(seen: Readings) -> bool:
    """Whether a program of the trial was on Onload."""
    return bool(seen.samples(METRIC))


def onload_figures(trials: Sequence[Readings]) -> dict[str, Spread]:
    """SHOWN, each per second of the sustain window; empty where no stack was Onload."""
    if not any(is_onload(seen) for seen in trials):
        return {}
    why = next((why for seen in trials if (why := seen.why_unknown(METRIC))), "")
    rounds = [seen.trial.round for seen in trials]
    return {
        name: spread(
            [seen.rate(METRIC, "sustain", counter=name) for seen in trials], "1/s", why, rounds
        )
        for name in SHOWN
    }
