"""The cost of HTTP clients' tests, and of the differences between them.

All are microseconds of the server's CPU by kind, round by round, so that a drift between rounds
does not count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stackcost.analysis.cost.flows import kept_up
from stackcost.analysis.spread import Spread, combined
from stackcost.analysis.summary import ClientSettings, Level, ServerResult


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of the server's CPU by kind, and their sum."""

    kinds: Mapping[str, Spread]
    total: Spread

    @classmethod
    def of(cls, parts: Sequence[tuple[float, Level]]) -> "Cost":
        """The sum of tests' costs, each times its factor; of kinds that all of them have."""
        kinds = [kind for kind in parts[0][1].costs if all(kind in p.costs for _, p in parts)]
        return cls(
            {kind: combined([(factor, p.costs[kind]) for factor, p in parts]) for kind in kinds},
            combined([(factor, p.cost) for factor, p in parts]),
        )


def tests_of(
    server: ServerResult, fits: Callable[[ClientSettings], bool], at_rate: bool
) -> list[tuple[Level, ClientSettings]]:
    """Tests of these settings: at a rate that clients and server held, or closed loops."""
    return [
        (level, level.http)
        for level in server.levels
        if level.http
        and bool(level.offered_cps) == at_rate
        and (not at_rate or _held(level, level.http))
        and level.cost.median is not None
        and fits(level.http)
    ]


def _held(level: Level, http: ClientSettings) -> bool:
    """Whether as much was answered as was offered."""
    answered = level["http.rate"].median
    return not level.past_ceiling and answered is not None and kept_up(answered, level.offered_cps)
