"""The part of each of several generators in a load, and whether it did what it should."""

from collections.abc import Callable, Iterable

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial import thresholds
from stackcost.contracts.counts import GeneratorShare
from stackcost.contracts.metrics import ENGINE_BUSY_TIME, ENGINE_TIME
from stackcost.contracts.trial import Trial

OPENED = "tcps_connattempt"


def busy_shares(readings: Readings) -> dict[str, float]:
    """Share (0 to 1) of their time in which the data cores did work, by generator.

    The name of a single generator is empty. A generator that does not tell is left out.
    """
    readings, wanted = readings.at(readings.trial.traffic.main_phase), {"engine": "generator"}
    busy = readings.by_label(ENGINE_BUSY_TIME, "generator", **wanted)
    whole = readings.by_label(ENGINE_TIME, "generator", **wanted)
    return {name: busy[name] / whole[name] for name in busy if whole.get(name)}


def opened_share(trial: Trial, name: str) -> float | None:
    """Share (0 to 1) of all connections that this generator opened; None if none was opened."""
    opened = {each.name: each.client.get(OPENED, 0.0) for each in trial.traffic.generators}
    whole = sum(opened.values())
    return opened[name] / whole if whole and name in opened else None


def limits(readings: Readings) -> list[str]:
    """Signs that a generator did not offer its part of the planned load."""
    limit = thresholds.GENERATOR_BUSY_LIMIT
    found = [
        f"{name or 'generator'} {busy:.0%} busy, above {limit:.0%}"
        for name, busy in busy_shares(readings).items()
        if busy > limit
    ]
    for each in readings.trial.traffic.generators:
        opened = opened_share(readings.trial, each.name)
        if opened is not None and abs(opened - each.part) > thresholds.PART_LIMIT:
            found.append(
                f"{each.name} opened {opened:.1%} of the connections, its part is {each.part:.1%}"
            )
    return found


def parts(trials: Iterable[Trial]) -> dict[str, GeneratorShare]:
    """Each of several generators by name, with its part and addresses in one of these trials."""
    return {each.name: each for trial in trials for each in trial.traffic.generators}


def _share_of(trial: Trial, name: str) -> GeneratorShare | None:
    return next((each for each in trial.traffic.generators if each.name == name), None)


def _late(name: str, readings: Readings) -> float | None:
    """Share (0 to 1) of its connections that it started too late."""
    share = _share_of(readings.trial, name)
    kept = share.schedule if share else None
    return kept.late / kept.opened if kept and kept.opened else None


def _started(name: str, readings: Readings) -> float | None:
    """Seconds from the start of the first generator."""
    share = _share_of(readings.trial, name)
    return share.started_s if share else None


# Figures of one of several generators in a trial, from its name and the trial.
READ: dict[str, Callable[[str, Readings], float | None]] = {
    "opened": lambda name, readings: opened_share(readings.trial, name),
    "late": _late,
    "busy": lambda name, readings: busy_shares(readings).get(name),
    "started": _started,
}
