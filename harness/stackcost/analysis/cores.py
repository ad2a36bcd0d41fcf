"""How each core's time was spent during the sustain window."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

from stackcost.analysis.core_time import core_seconds
from stackcost.analysis.readings import Readings

KINDS = ("user", "system", "irq", "softirq", "idle")
IDLE_POLLING = "idle polling"


def core_shares(trials: Sequence[Readings]) -> dict[str, dict[str, float]]:
    """Share (0 to 1) of each core's time by kind; the median over the trials.

    A kind that was not read is absent, and so is a core of which nothing was.
    """
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seen in trials:
        for core in seen.by_label("cpu.exact_time", "sustain", "cpu"):
            length = seen.phases["sustain"].length
            for kind, spent in _seconds(seen, core).items():
                shares[core][kind].append(spent / length)
    return {
        core: {kind: median(values) for kind, values in kinds.items()}
        for core, kinds in sorted(shares.items())
    }


def _seconds(seen: Readings, core: str) -> dict[str, float]:
    """Seconds of one core by kind; of an engine's, those of polling in vain stand apart.

    They are taken off user time, where an engine polls, and what is more than that off system time.
    """
    account = core_seconds(seen, int(core), "sustain")
    kinds = asdict(account) if account else {}
    seconds = {kind: kinds[kind] for kind in KINDS if kinds.get(kind) is not None}
    whole = seen.growth("engine.time", "sustain", cpu=core)
    busy = seen.growth("engine.busy_time", "sustain", cpu=core)
    if whole is None or busy is None:
        return seconds
    left = seconds[IDLE_POLLING] = whole - busy
    for kind in ("user", "system"):
        taken = min(left, seconds.get(kind, 0.0))
        seconds[kind] = seconds.get(kind, 0.0) - taken
        left -= taken
    return seconds
