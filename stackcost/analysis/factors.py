"""The two answers: how many times the CPU, and the memory, of one server another one takes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from stackcost.analysis.checks import is_established_hold, is_hold
from stackcost.analysis.cpu import server_cost, server_total, why_no_cost
from stackcost.analysis.memory import Merged, held_flows
from stackcost.analysis.memory_summary import bytes_per_flow
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread, ratio, spread
from stackcost.analysis.summary import Factor


def cpu_factor(
    trials: Sequence[Readings],
    above: str,
    below: str,
    server_cpus: Collection[int],
    ceilings: Mapping[str, float],
    past: Mapping[int, str],
) -> Factor:
    """At half of the ceiling, or the highest load that both held; see `headline`."""
    servers = (above, below)
    found = headline(trials, servers, server_cpus, ceilings, past)
    if found.rate is None:
        return Factor(
            name="cpu",
            above=above,
            below=below,
            at="no load",
            ratio=Spread(unit="1", reason=found.words),
            above_cost=Spread(unit="us", reason=found.words),
            below_cost=Spread(unit="us", reason=found.words),
        )

    def costs(server: str, cost: Callable[[Readings], float | None]) -> dict[int, float | None]:
        return {
            int(seen.trial.load["round"]): cost(seen)
            for seen in trials
            if not is_hold(seen.trial)
            and seen.trial.server == server
            and seen.trial.offered_cps == found.rate
        }

    def total(seen: Readings) -> float | None:
        return server_total(seen, server_cpus)

    def stack(seen: Readings) -> float | None:
        return server_cost(seen, server_cpus).get("stack")

    made = _factor("cpu", servers, found.words, (costs(above, total), costs(below, total)), "us")
    alone = costs(below, stack)
    if any(alone.values()):
        without = _over_rounds(costs(above, total), alone)
        return made.model_copy(update={"without_sending": without})
    return made


class Headline(NamedTuple):
    """The load at which costs are quoted, connections/s; None when there is none, and why."""

    rate: float | None
    words: str


def headline(
    trials: Sequence[Readings],
    servers: Collection[str],
    server_cpus: Collection[int],
    ceilings: Mapping[str, float],
    past: Mapping[int, str],
) -> Headline:
    """Of the loads that all these servers met: the one nearest to half of what the slowest holds.

    `ceilings`: connections/s that each system was found to hold, by its name; without any it is the
    highest load with the fewest distrusted trials. `past`: by the number of a trial, the sign that
    its server was past its ceiling. A load with such a trial is none of a headline, in all rounds:
    to leave out single rounds by what came out would move the figures.
    """
    own = [s for s in trials if s.trial.server in servers and not is_hold(s.trial)]
    known = [seen for seen in own if server_total(seen, server_cpus) is not None]
    met = [{s.trial.offered_cps for s in known if s.trial.server == name} for name in servers]
    common = set.intersection(*met)
    over = {
        seen.trial.offered_cps: f"{seen.trial.server} ({past[seen.trial.number]})"
        for seen in reversed(own)
        if seen.trial.number in past
    }
    held = common - over.keys()
    if not common:
        return Headline(None, _why_no_load(own, servers, server_cpus))
    if not held:
        lowest = min(common)
        return Headline(
            None,
            "past the ceiling at every load that both met: at "
            f"{lowest:,.0f} connections/s {over[lowest]}",
        )

    def distrusted(rate: float) -> int:
        return sum(bool(s.trial.flags) for s in known if s.trial.offered_cps == rate)

    words = ""
    if ceilings:
        slowest = min(ceilings, key=lambda name: ceilings[name])
        best = min(held, key=lambda rate: (abs(rate - ceilings[slowest] / 2), rate))
        words = f", {best / ceilings[slowest]:.0%} of what {slowest} holds"
    else:
        best = min(held, key=lambda rate: (distrusted(rate), -rate))
    if distrusted(best):
        words += f", {distrusted(best)} of its trials flagged"
    return Headline(best, f"{best:,.0f} connections/s{words}")


def _why_no_load(
    own: Sequence[Readings], servers: Collection[str], server_cpus: Collection[int]
) -> str:
    """What the cost of a server lacks, where that is known of any trial."""
    for name in servers:
        trials = [seen for seen in own if seen.trial.server == name]
        reasons = [reason for seen in trials if (reason := why_no_cost(seen, server_cpus))]
        if trials and len(reasons) == len(trials):
            return f"the cost of {name} is not known: {reasons[0]}"
    return "no load was measured on both servers"


def memory_factor(trials: Sequence[Readings], above: str, below: str, merged: Merged) -> Factor:
    """Of the bytes per open flow, by their slopes."""
    holds = [
        seen
        for seen in trials
        if is_established_hold(seen.trial) and seen.trial.server in (above, below)
    ]
    counts = [held_flows(seen) for seen in holds]
    at = f"slope over {min(counts):,.0f} to {max(counts):,.0f} open flows" if counts else "no flows"
    slopes = {
        name: bytes_per_flow([seen for seen in holds if seen.trial.server == name], merged)
        for name in (above, below)
    }
    why = "; ".join(f"{name}: {found.reason}" for name, found in slopes.items() if found.reason)
    each = slopes[above].by_round, slopes[below].by_round
    return _factor("memory", (above, below), at, each, "B", why)


def _factor(
    name: Literal["cpu", "memory"],
    servers: tuple[str, str],
    at: str,
    costs: tuple[Mapping[int, float | None], Mapping[int, float | None]],
    unit: str,
    reason: str = "",
) -> Factor:
    """`reason`: why a cost, and with it the ratio, is not known, if it is not."""
    above, below = costs
    return Factor(
        name=name,
        above=servers[0],
        below=servers[1],
        at=at,
        ratio=_over_rounds(above, below, reason),
        above_cost=spread(list(above.values()), unit, reason),
        below_cost=spread(list(below.values()), unit, reason),
    )


def _over_rounds(
    above: Mapping[int, float | None], below: Mapping[int, float | None], reason: str = ""
) -> Spread:
    """Ratio over the rounds in which both were measured."""
    rounds = sorted(set(above) & set(below))
    return ratio([above[number] for number in rounds], [below[number] for number in rounds], reason)
