"""Whether a trial was on Onload, and which of its counters are shown."""

from stackcost.analysis.readings import Readings

METRIC = "onload.counter"
SHOWN = ("k_polls", "u_polls", "rx_evs", "tx_evs")  # Onload's own names


def is_onload(seen: Readings) -> bool:
    """Whether a program of the trial was on Onload."""
    return bool(seen.samples(METRIC))
