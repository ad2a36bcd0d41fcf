"""The two answers: how many times the CPU, and the memory, of one server another one takes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from harness.analysis.checks import is_established_hold, is_hold
from harness.analysis.cpu import server_cost, server_total
from harness.analysis.memory import Merged, held_flows
from harness.analysis.memory_summary import bytes_per_flow
from harness.analysis.readings import Readings
from harness.analysis.spread import Spread, ratio, spread
from harness.analysis.summary import Factor


def cpu_factor(
    trials: Sequence[Readings], above: str, below: str, server_cpus: Collection[int]
) -> Factor:
    """At the highest load that both met with the fewest distrusted trials."""
    loads = [seen for seen in trials if not is_hold(seen.trial)]
    known = [seen for seen in loads if server_total(seen, server_cpus) is not None]
    common = _offered(known, above) & _offered(known, below)
    if not common:
        why = "no load was measured on both servers"
        return Factor(
            name="cpu",
            above=above,
            below=below,
            at="no load",
            ratio=Spread(unit="1", reason=why),
            above_cost=Spread(unit="us", reason=why),
            below_cost=Spread(unit="us", reason=why),
        )

    def distrusted(rate: float) -> int:
        at_rate = [seen.trial for seen in known if seen.trial.offered_cps == rate]
        return sum(bool(trial.flags) for trial in at_rate if trial.server in (above, below))

    best = min(common, key=lambda rate: (distrusted(rate), -rate))
    at = f"{best:,.0f} connections/s"
    if distrusted(best):
        at += f", {distrusted(best)} of its trials flagged"

    def costs(server: str, cost: Callable[[Readings], float | None]) -> dict[int, float | None]:
        return {
            int(seen.trial.load["round"]): cost(seen)
            for seen in known
            if seen.trial.server == server and seen.trial.offered_cps == best
        }

    def total(seen: Readings) -> float | None:
        return server_total(seen, server_cpus)

    def stack(seen: Readings) -> float | None:
        return server_cost(seen, server_cpus).get("stack")

    found = _factor("cpu", (above, below), at, (costs(above, total), costs(below, total)), "us")
    alone = costs(below, stack)
    if any(alone.values()):
        without = _over_rounds(costs(above, total), alone)
        return found.model_copy(update={"without_sending": without})
    return found


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
    return _factor("memory", (above, below), at, (slopes[above], slopes[below]), "B")


def _factor(
    name: Literal["cpu", "memory"],
    servers: tuple[str, str],
    at: str,
    costs: tuple[Mapping[int, float | None], Mapping[int, float | None]],
    unit: str,
) -> Factor:
    above, below = costs
    return Factor(
        name=name,
        above=servers[0],
        below=servers[1],
        at=at,
        ratio=_over_rounds(above, below),
        above_cost=spread(list(above.values()), unit),
        below_cost=spread(list(below.values()), unit),
    )


def _offered(trials: Sequence[Readings], server: str) -> set[float]:
    return {seen.trial.offered_cps for seen in trials if seen.trial.server == server}


def _over_rounds(above: Mapping[int, float | None], below: Mapping[int, float | None]) -> Spread:
    """Ratio over the rounds in which both were measured."""
    rounds = sorted(set(above) & set(below))
    return ratio([above[number] for number in rounds], [below[number] for number in rounds])
