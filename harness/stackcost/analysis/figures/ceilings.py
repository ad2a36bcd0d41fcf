"""Figures of searches: the ceilings of one system, all searches for the same thing together."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from stackcost.analysis.ceiling.settings import UNITS
from stackcost.analysis.ceiling.summary import Ceiling, Rate
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.contracts.load import CeilingKind

Searches: TypeAlias = Sequence[Ceiling]
SOURCE = (
    "trials of MLRsearch (draft-ietf-bmwg-mlrsearch): what was offered, and what was lost of it"
)
NDR = "no drop rate: the highest load of which trials lost nothing"
PDR = "partial drop rate: the highest load of which trials lost at most 0.5 %"
LOST = {
    "connections": "those that failed, whose SYN was retransmitted, or that had not ended 20 ms "
    "(plus the client's TIME_WAIT) after the last scheduled start",
    "flows": "those that are not open, or not fully answered, at the end of the hold",
    "requests": "those not answered 50 ms after the last scheduled start, and connections whose "
    "SYN was retransmitted",
}
INTERVAL = (
    "end of the interval that has the true ceiling in it in nine of ten searches or more, as "
    "simulated ones show, and the mean of sessions that differ by 4 % in 4 to 6 of ten"
)


def _values(searches: Searches, read: Callable[[Ceiling], float | None], reason: str) -> Values:
    """One of each search. A search that did not end has none."""
    found = [read(each) if each.complete else None for each in searches]
    if not any(each.complete for each in searches):
        reason = "no search was complete"
    return Values(found, [each.round for each in searches], reason)


def _by_rate(
    searches: Searches, read: Callable[[Rate], float | None], reason: str
) -> Iterator[tuple[str, Values]]:
    def of(name: str, each: Ceiling) -> float | None:
        return next((read(rate) for rate in each.rates if rate.name == name), None)

    for name in dict.fromkeys(rate.name for each in searches for rate in each.rates):
        yield name, _values(searches, partial(of, name), reason)


def _rates(searches: Searches) -> dict[str, Values]:
    return dict(_by_rate(searches, lambda rate: rate.value, "no load was held"))


def _ends(searches: Searches) -> dict[str, Values]:
    reason = "a bound is missing, or only disturbed trials lost too much"
    low = _by_rate(searches, lambda rate: rate.low, reason)
    high = _by_rate(searches, lambda rate: rate.high, reason)
    return {f"{name}.low": each for name, each in low} | {f"{n}.high": each for n, each in high}


def _reference(searches: Searches) -> Values | None:
    if not any(each.reference for each in searches):
        return None
    reason = "it lost part of every load"
    return _values(
        searches, lambda each: each.reference.carried if each.reference else None, reason
    )


def _ceiling(of: CeilingKind) -> Figure[Searches]:
    return Figure[Searches](
        name=f"ceiling.{of}",
        unit=UNITS[of],
        definition="what was not lost of the highest load that was held, by goal of the search; "
        f"lost are {LOST[of]}",
        source=SOURCE,
        of="ceiling",
        kinds={"NDR": (NDR, SOURCE), "PDR": (PDR, SOURCE)},
        judged=True,
        compute=_rates,
    )


def _interval(of: CeilingKind) -> Figure[Searches]:
    return Figure[Searches](
        name=f"ceiling_interval.{of}",
        unit=UNITS[of],
        definition=INTERVAL,
        source=SOURCE,
        of="ceiling",
        kinds={
            f"{goal}.{end}": (INTERVAL, SOURCE)
            for goal in ("NDR", "PDR")
            for end in ("low", "high")
        },
        compute=_ends,
    )


def _of_reference(of: CeilingKind) -> Figure[Searches]:
    return Figure[Searches](
        name=f"ceiling_reference.{of}",
        unit=UNITS[of],
        definition="highest load of which a peer that does no server's work lost nothing over the "
        "same path",
        source="trials of the reference peer after the search",
        of="ceiling",
        compute=_reference,
    )


OF_CEILINGS: dict[CeilingKind, tuple[Figure[Searches], ...]] = {
    of: (_ceiling(of), _interval(of), _of_reference(of)) for of in UNITS
}
