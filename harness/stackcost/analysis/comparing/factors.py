"""The two main results: the factors between two servers in CPU and in memory."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from stackcost.analysis.comparing.comparison import Comparison, Design, Question, compare_all
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.cost.cpu import server_total, why_no_cost
from stackcost.analysis.figures.figure import Declared
from stackcost.analysis.head import COST
from stackcost.analysis.memory.memory import Merged, held_flows
from stackcost.analysis.memory.memory_total import HoldTrials
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import Factor
from stackcost.analysis.trial.flags import disturbances, flags_of
from stackcost.contracts.load import ESTABLISHED, rate_words

CPU = Declared(
    name="factor.cpu",
    unit="1",
    definition="ratio of both sides' server_cpu_total. The median over any two rounds of their "
    "mean ratio (Hodges and Lehmann); its interval holds the true value in 50 % of cases with 2 "
    "rounds, 87.5 % with 4, 95 % or more from 6 on",
    source=COST,
    of="pair",
)
MEMORY = Declared(
    name="factor.memory",
    unit="1",
    definition="the same of memory.total",
    source="memory.total",
    of="pair",
)


def factors(
    trials: Sequence[Readings],
    servers: tuple[str, str],
    ceilings: Mapping[str, float],
    past: Mapping[int, str],
    merged: Merged,
) -> list[Factor]:
    """The factors of CPU and memory: cost of the first server / cost of the second server.

    CPU: at the load of `headline`. Memory: the slopes, in bytes per open flow.
    """
    above, below = servers
    found = headline(trials, servers, ceilings, past)
    own = [
        readings
        for readings in trials
        if not readings.trial.traffic.holds and readings.trial.offered_cps == found.rate
    ]
    design = Design(paired=True)

    def costs(server: str) -> Series:
        readings = {
            each.trial.round: server_total(each) for each in own if each.trial.server == server
        }
        return Series.of(readings, "us", found.words if found.rate is None else "")

    flows, at = _open_flows(trials, servers, merged)
    load = "" if found.rate is None else found.words
    cpu = Question(costs(below), costs(above), design, "cpu", load)
    memory = Question(flows[below], flows[above], Design(paired=True), "memory", at)
    found_both = zip((cpu, memory), compare_all([cpu, memory]), strict=True)
    return [_factor(servers, *each) for each in found_both]


class Headline(NamedTuple):
    """The load at which costs are quoted, connections/s; None with a reason if there is none."""

    rate: float | None
    words: str


def headline(
    trials: Sequence[Readings],
    servers: Collection[str],
    ceilings: Mapping[str, float],
    past: Mapping[int, str],
) -> Headline:
    """The common load of all these servers that is nearest to half of the lowest ceiling.

    `ceilings`: connections/s by system name; without ceilings it is the highest load with the
    fewest flagged trials. `past`: by trial number, the sign that the server was above its ceiling.
    A load with such a trial is not used in any round: a choice of single rounds that depends on
    their results would bias the figures.
    """
    own = [s for s in trials if s.trial.server in servers and not s.trial.traffic.holds]
    known = [readings for readings in own if server_total(readings) is not None]
    met = [{s.trial.offered_cps for s in known if s.trial.server == name} for name in servers]
    common = set.intersection(*met) if met else set()
    over = {
        readings.trial.offered_cps: f"{readings.trial.server} ({past[readings.trial.number]})"
        for readings in reversed(own)
        if readings.trial.number in past
    }
    held = common - over.keys()
    if not common:
        return Headline(None, _why_no_load(own, servers))
    if not held:
        lowest = min(common)
        disturbed = [each for readings in own if (each := disturbances(readings)[:1])]
        if 2 * len(disturbed) > len(own):
            return Headline(
                None,
                f"{len(disturbed)} of {len(own)} trials were disturbed ({disturbed[0][0]}), so it "
                "is not known which loads were above the ceiling",
            )
        return Headline(
            None,
            "every common load was above the ceiling: at "
            f"{rate_words(lowest)} connections/s {over[lowest]}",
        )

    def distrusted(rate: float) -> int:
        return sum(bool(flags_of(s)) for s in known if s.trial.offered_cps == rate)

    words = ""
    if ceilings:
        slowest = min(ceilings, key=lambda name: ceilings[name])
        best = min(held, key=lambda rate: (abs(rate - ceilings[slowest] / 2), rate))
        words = f", {best / ceilings[slowest]:.0%} of the ceiling of {slowest}"
    else:
        best = min(held, key=lambda rate: (distrusted(rate), -rate))
    if distrusted(best):
        words += f", {distrusted(best)} of its trials flagged"
    return Headline(best, f"{rate_words(best)} connections/s{words}")


def _why_no_load(own: Sequence[Readings], servers: Collection[str]) -> str:
    """What the cost of a server lacks, where that is known of any trial."""
    for name in servers:
        trials = [readings for readings in own if readings.trial.server == name]
        reasons = [reason for readings in trials if (reason := why_no_cost(readings))]
        if trials and len(reasons) == len(trials):
            return f"the cost of {name} is not known: {reasons[0]}"
    return "no load was measured on both servers"


def _open_flows(
    trials: Sequence[Readings], servers: tuple[str, str], merged: Merged
) -> tuple[dict[str, Series], str]:
    """Bytes per open flow of each server, and between which numbers of flows."""
    holds = [
        readings
        for readings in trials
        if readings.trial.traffic.state == ESTABLISHED and readings.trial.server in servers
    ]
    counts = [held_flows(readings) for readings in holds]
    at = f"slope over {min(counts):,.0f} to {max(counts):,.0f} open flows" if counts else "no flows"
    found = {}
    for name in servers:
        own = [readings for readings in holds if readings.trial.server == name]
        slopes = HoldTrials(own, merged).per_flow
        reason = f"{name}: {slopes.reason}" if slopes.reason else ""
        if not holds:
            reason = "no flows were held open"
        found[name] = Series.of(slopes.by_round, "B", reason)
    return found, at


def _factor(servers: tuple[str, str], question: Question, found: Comparison) -> Factor:
    """With the costs of the rounds in which both are known, which are those that it divides."""
    name: Literal["cpu", "memory"] = "cpu" if question.figure == "cpu" else "memory"
    both = question.b.rounds.keys() & question.a.rounds.keys()
    either = question.b.rounds.keys() | question.a.rounds.keys()
    alone = f", {len(both)} of {len(either)} rounds" if 0 < len(both) < len(either) else ""
    return Factor(
        name=name,
        baseline=servers[0],
        against=servers[1],
        at=question.at + alone,
        ratio=found.ratios,
        baseline_cost=_costs(question.b, both or either),
        against_cost=_costs(question.a, both or either),
        comparison=found,
    )


def _costs(costs: Series, rounds: Collection[int]) -> Spread:
    """Of these rounds; a cost is that of the slices that neighbours left free, where known."""
    values = {
        number: cost
        for number, at in costs.rounds.items()
        for cost in at.values()
        if number in rounds
    }
    return spread(list(values.values()), costs.unit, costs.reason, list(values))
