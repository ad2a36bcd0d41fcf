"""What the cost is made of: the sentence under a factor, and the categories of each system."""

from collections import defaultdict
from collections.abc import Sequence
from math import hypot, sqrt
from statistics import NormalDist, stdev
from typing import NamedTuple

from stackcost.analysis.spread import Spread, combined
from stackcost.analysis.summary import Factor, Level, Summary
from stackcost.analysis.why.function_table import UNMATCHED, USER
from stackcost.report.peer_parts import level_of
from stackcost.report.text_table import TextTable
from stackcost.report.words import number, pair, with_range

SHOWN = 10  # categories of each system and of each difference
NAMED = 4  # categories in a sentence
BESIDE = "the kernel beside the peer"
WHOSE = (
    "of the server's processes, of the kernel's threads that work for it (napi, ksoftirqd), and of "
    "all softirqs and interrupts on its cores"
)
SURE = 0.975  # of a one-sided interval: a difference that a 95 % one leaves open is unsure


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


class Categories(NamedTuple):
    """Of one system: the time of each category, us, and the square of what samples leave open."""

    spent: dict[str, Spread]
    squares: dict[str, float]


def why_sentences(summary: Summary) -> list[str]:
    """For each CPU factor what the difference is made of, or why that is not known."""
    return [
        sentence
        for each in summary.factors
        if each.name == "cpu" and each.ratio.median is not None
        if (sentence := _sentence(summary, each))
    ]


def why_table(summary: Summary) -> TextTable:
    """The largest categories of each system where its cost is quoted, or of each test of HTTP
    clients, and of each difference.

    Median, and the range of the rounds. A difference that the samples leave open is "none seen",
    one that the rounds leave open is "unsure".
    """
    quoted = {
        f"{server.name}, {level.load}" if level.test else server.name: level
        for server, level in summary.loads
        if (level.test or level is server.quoted) and _known(level)
    }
    columns = dict(zip(quoted, _categories(list(quoted.values())), strict=True))
    pairs = [
        (found, _between(columns[found.baseline], columns[found.against]))
        for found in summary.factors
        if found.name == "cpu" and found.baseline in quoted and found.against in quoted
    ]
    largest: dict[str, float] = defaultdict(float)
    for column in columns.values():
        for name, spread in column.spent.items():
            largest[name] = max(largest[name], spread.median or 0.0)
    shown = {name for column in columns.values() for name in _largest(column.spent)}
    for _, found in pairs:
        shown |= {each.category for each in [each for each in found if each.is_known][:SHOWN]}
    return TextTable(
        f"What that time was spent on, us per connection: median (range of the rounds); {WHOSE}",
        (
            "category",
            *quoted,
            *(f"difference, {pair(each.baseline, each.against)}" for each, _ in pairs),
        ),
        [
            (
                name,
                *(_cell(column, name) for column in columns.values()),
                *(_more(found, name) for _, found in pairs),
            )
            for name in sorted(largest, key=lambda each: -largest[each])
            if name in shown
        ],
    )


def differences(above: Level, below: Level) -> list[Difference]:
    """Of all categories, the largest first."""
    return _between(*_categories([above, below]))


def _categories(levels: Sequence[Level]) -> list[Categories]:
    """Of each level. Files of user space that not all levels have are one category: each server
    has a program of its own. A polling peer has the kernel's work beside it as one more.
    """
    names = [set(level.kinds("why")) for level in levels]
    own = {
        name
        for name in set().union(*names)
        if name.startswith(f"{USER},") and not all(name in each for each in names)
    }
    found = []
    for level in levels:
        spent, errors = dict(level.kinds("why")), dict(level.kinds("why_error"))
        squares = {
            name: (error.median or 0.0) ** 2 / max(len(error.values), 1)
            for name, error in errors.items()
        }
        if mine := sorted(own & spent.keys()):
            spent[USER] = combined([(1.0, spent.pop(name)) for name in mine])
            squares[USER] = sum(squares.pop(name, 0.0) for name in mine)
        beside = level.kinds("peer_kernel_cpu").values()
        if known := [(1.0, each) for each in beside if each.median is not None]:
            spent[BESIDE] = combined(known)
        found.append(Categories(spent, squares))
    return found


def _between(above: Categories, below: Categories) -> list[Difference]:
    found = []
    for name in dict.fromkeys([*above.spent, *below.spent]):
        parts = [
            (sign, side.spent.get(name) or _none(side.spent))
            for sign, side in ((1.0, above), (-1.0, below))
        ]
        square = sum(side.squares.get(name, 0.0) for side in (above, below))
        found.append(Difference(name, combined(parts), sqrt(square)))
    return sorted(found, key=lambda each: -abs(each.more.median or 0.0))


def _sentence(summary: Summary, found: Factor) -> str:
    above, below = (level_of(summary, name, found) for name in (found.baseline, found.against))
    if above is None or below is None:
        return ""
    for level, name in ((above, found.baseline), (below, found.against)):
        if not _known(level):
            reasons = [spread.reason for spread in level.kinds("why").values()]
            return f"Why {name} costs that is not known: {reasons[0]}." if reasons else ""
    every = [
        each
        for each in differences(above, below)
        if each.is_seen and each.category != UNMATCHED  # which explains nothing
    ]
    more = [each for each in every if (each.more.median or 0.0) > 0]
    less = [each for each in every if (each.more.median or 0.0) < 0]
    between = combined([(1.0, above.cost), (-1.0, below.cost)])
    if between.median is None:
        return ""
    if not every:
        return (
            f"What the {number(abs(between.median))} us between {found.baseline} and "
            f"{found.against} are made of is not sure: there are too few samples."
        )
    first, second = (found.baseline, found.against)
    if between.median < 0:
        more, less, first, second = less, more, second, first
    told = [f"{_size(each)} are {each.category}{_unsure(each)}" for each in more[:NAMED]]
    text = f"Of the {number(abs(between.median))} us between {first} and {second}, "
    text += ", ".join(told) if told else "no category is a known part"
    if less:
        own = [f"{_size(each)} of {each.category}{_unsure(each)}" for each in less[:2]]
        text += f"; {second} takes more in others: {', '.join(own)}"
    return f"{text}."


def _size(each: Difference) -> str:
    return number(abs(each.more.median or 0.0))


def _unsure(each: Difference) -> str:
    """A mark where the rounds, of which two are few, leave open whether there is a difference."""
    return "" if each.is_known else " (unsure)"


def _known(level: Level) -> bool:
    return any(spread.median is not None for spread in level.kinds("why").values())


def _largest(kinds: dict[str, Spread]) -> set[str]:
    """The largest, and what is in no category."""
    ordered = sorted(kinds, key=lambda name: -(kinds[name].median or 0.0))
    return {*ordered[:SHOWN], *({UNMATCHED} & kinds.keys())}


def _none(side: dict[str, Spread]) -> Spread:
    """A category that a system has no sample of took nothing in each of its rounds."""
    rounds = next(iter(side.values())).rounds
    return Spread(unit="us", values=[0.0] * len(rounds), median=0.0, rounds=rounds)


def _cell(column: Categories, name: str) -> str:
    spread = column.spent.get(name)
    return with_range(spread) if spread else "0"


def _more(found: list[Difference], name: str) -> str:
    each = next((each for each in found if each.category == name), None)
    if each is None:
        return "0"
    if not each.is_seen:
        return "none seen"
    return with_range(each.more) if each.is_known else f"unsure: {with_range(each.more)}"
