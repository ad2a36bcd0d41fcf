"""What the cost is made of: the sentence under a factor, and the categories of each system."""

from collections import defaultdict
from math import hypot, sqrt
from statistics import NormalDist, stdev
from typing import NamedTuple

from stackcost.analysis.spread import Spread, combined
from stackcost.analysis.summary import Factor, Level, Summary
from stackcost.analysis.why.table import UNMATCHED
from stackcost.report.text_table import TextTable
from stackcost.report.words import number, pair, with_range

SHOWN = 10  # categories of each system and of each difference
NAMED = 4  # categories in a sentence
SURE = 0.975  # of a one-sided interval: a difference that a 95 % one leaves open is not ranked


class Difference(NamedTuple):
    """By how much more time one system takes in a category. `error`: of the samples alone."""

    category: str
    more: Spread
    error: float

    @property
    def is_known(self) -> bool:
        """Whether it is larger than what its samples and its rounds leave open.

        What rounds leave open is that of a mean of few values (Student's t). Of one round only its
        samples are known.
        """
        from scipy.special import stdtrit  # takes a while, which most commands do not need

        by_rounds = 0.0
        if (rounds := len(self.more.values)) > 1:
            by_rounds = float(stdtrit(rounds - 1, SURE)) * stdev(self.more.values) / sqrt(rounds)
        return self._exceeds(by_rounds)

    @property
    def is_seen(self) -> bool:
        """Whether it is larger than what its samples leave open, whatever its rounds do."""
        return self._exceeds(0.0)

    def _exceeds(self, by_rounds: float) -> bool:
        by_samples = NormalDist().inv_cdf(SURE) * self.error
        return abs(self.more.median or 0.0) > hypot(by_samples, by_rounds)


def why_sentences(summary: Summary) -> list[str]:
    """For each CPU factor what the difference is made of, or why that is not known."""
    return [
        sentence
        for each in summary.factors
        if each.name == "cpu" and each.ratio.median is not None
        if (sentence := _sentence(summary, each))
    ]


def why_table(summary: Summary, most: int = SHOWN) -> TextTable:
    """The largest categories of each system where its cost is quoted, or of each test of HTTP
    clients, and of each difference: `most` of each.

    Median, and the range of the rounds. A difference that the samples leave open is "none seen",
    one that the rounds leave open is "unsure".
    """
    quoted = {
        f"{server.name}, {level.load}" if level.test else server.name: level
        for server in summary.servers
        for level in server.levels
        if (level.test or level is server.quoted) and _known(level)
    }
    pairs = [
        (found, differences(quoted[found.baseline], quoted[found.against]))
        for found in summary.factors
        if found.name == "cpu" and found.baseline in quoted and found.against in quoted
    ]
    largest: dict[str, float] = defaultdict(float)
    for level in quoted.values():
        for name, spread in level.kinds("why").items():
            largest[name] = max(largest[name], spread.median or 0.0)
    shown = {name for level in quoted.values() for name in _largest(level.kinds("why"), most)}
    for _, found in pairs:
        shown |= {each.category for each in [each for each in found if each.is_known][:most]}
    return TextTable(
        "What that time was spent on, us per connection: median (range of the rounds)",
        (
            "category",
            *quoted,
            *(f"difference, {pair(each.baseline, each.against)}" for each, _ in pairs),
        ),
        [
            (
                name,
                *(_cell(level, name) for level in quoted.values()),
                *(_more(found, name) for _, found in pairs),
            )
            for name in sorted(largest, key=lambda each: -largest[each])
            if name in shown
        ],
    )


def differences(above: Level, below: Level) -> list[Difference]:
    """Of all categories, the largest first."""
    sides = above.kinds("why"), below.kinds("why")
    found = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        parts = [
            (sign, side.get(name) or _none(side))
            for sign, side in zip((1.0, -1.0), sides, strict=True)
        ]
        errors = [level.kinds("why_error").get(name) for level in (above, below)]
        squares = [(e.median or 0.0) ** 2 / max(len(e.values), 1) for e in errors if e]
        found.append(Difference(name, combined(parts), sqrt(sum(squares))))
    return sorted(found, key=lambda each: -abs(each.more.median or 0.0))


def _sentence(summary: Summary, found: Factor) -> str:
    levels = [
        next(
            (each for each in server.levels if not each.test and found.is_at(each.offered_cps)),
            None,
        )
        for name in (found.baseline, found.against)
        for server in summary.servers
        if server.name == name
    ]
    if len(levels) != 2 or None in levels:
        return ""
    above, below = levels
    assert above and below
    for level, name in ((above, found.baseline), (below, found.against)):
        if not _known(level):
            reasons = [spread.reason for spread in level.kinds("why").values()]
            return f"Why {name} costs that is not known: {reasons[0]}." if reasons else ""
    every = [
        each
        for each in differences(above, below)
        if each.is_known and each.category != UNMATCHED  # which explains nothing
    ]
    more = [each for each in every if (each.more.median or 0.0) > 0]
    less = [each for each in every if (each.more.median or 0.0) < 0]
    between = combined([(1.0, above["server_cpu_total"]), (-1.0, below["server_cpu_total"])])
    if between.median is None:
        return ""
    if not every:
        return (
            f"What the {number(abs(between.median))} us between {found.baseline} and "
            f"{found.against} are made of is not sure: the rounds differ too much, or are too few."
        )
    first, second = (found.baseline, found.against)
    if between.median < 0:
        more, less, first, second = less, more, second, first
    told = [f"{number(abs(each.more.median or 0.0))} are {each.category}" for each in more[:NAMED]]
    text = f"Of the {number(abs(between.median))} us between {first} and {second}, "
    text += ", ".join(told) if told else "no category is a known part"
    if less:
        own = [f"{number(abs(each.more.median or 0.0))} of {each.category}" for each in less[:2]]
        text += f"; {second} takes more in others: {', '.join(own)}"
    known = sum(abs(each.more.median or 0.0) for each in more)
    if known < abs(between.median) / 2:
        text += "; the rounds differ too much to tell the rest"
    return f"{text}."


def _known(level: Level) -> bool:
    return any(spread.median is not None for spread in level.kinds("why").values())


def _largest(kinds: dict[str, Spread], most: int) -> set[str]:
    """The largest, and what is in no category."""
    ordered = sorted(kinds, key=lambda name: -(kinds[name].median or 0.0))
    return {*ordered[:most], *({UNMATCHED} & kinds.keys())}


def _none(side: dict[str, Spread]) -> Spread:
    """A category that a system has no sample of took nothing in each of its rounds."""
    rounds = next(iter(side.values())).rounds
    return Spread(unit="us", values=[0.0] * len(rounds), median=0.0, rounds=rounds)


def _cell(level: Level, name: str) -> str:
    spread = level.kinds("why").get(name)
    return with_range(spread) if spread else "0"


def _more(found: list[Difference], name: str) -> str:
    each = next((each for each in found if each.category == name), None)
    if each is None:
        return "0"
    if not each.is_seen:
        return "none seen"
    return with_range(each.more) if each.is_known else f"unsure: {with_range(each.more)}"
