"""Checks the repeatability of a ceiling that was found several times."""

from collections.abc import Sequence
from statistics import median

from stackcost.analysis.ceiling.summary import Ceiling, Rate, RepeatedCeiling
from stackcost.analysis.spread import spread

WANTED = 0.03  # highest less lowest of several searches, as a share of their median
Search = tuple[Ceiling, Rate]


def repeatability(ceilings: Sequence[Ceiling]) -> list[RepeatedCeiling]:
    """One entry for each rate of each ceiling that was found more than once."""
    searches: dict[tuple[str, str, str], list[Search]] = {}
    for ceiling in ceilings:
        for rate in ceiling.rates:
            if ceiling.complete and rate.value is not None:
                key = (ceiling.server, ceiling.of, rate.name)
                searches.setdefault(key, []).append((ceiling, rate))
    return [_repeated(found) for found in searches.values() if len(found) > 1]


def _repeated(found: Sequence[Search]) -> RepeatedCeiling:
    ceiling, rate = found[0]
    values = [each.value for _, each in found if each.value is not None]
    share = (max(values) - min(values)) / median(values)
    text = (
        f"{rate.name} of {ceiling.server}: found {len(values)} times, median "
        f"{median(values):,.0f} {ceiling.unit}, range {share:.1%}"
    )
    if share > WANTED:
        text += f". The range is above {WANTED:.0%}: the machine is too noisy"
        text += _noise([each for each, _ in found])
    return RepeatedCeiling(
        server=ceiling.server,
        of=ceiling.of,
        rate=rate.name,
        values=spread(values, ceiling.unit),
        range_share=share,
        wanted_share=WANTED,
        sentence=text,
    )


def _noise(ceilings: Sequence[Ceiling]) -> str:
    """How many trials were disturbed, and the reasons of the most disturbed one."""
    rows = [row for ceiling in ceilings for row in ceiling.trace]
    disturbed = [row for row in rows if row.disturbed]
    if not disturbed:
        return ", but no trial shows the cause"
    worst = max(disturbed, key=lambda row: len(row.disturbed))
    return (
        f" ({len(disturbed)} of {len(rows)} trials were disturbed, such as trial {worst.number}: "
        f"{'; '.join(worst.disturbed)})"
    )
