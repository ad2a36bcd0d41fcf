"""The sentences that answer the question of each notebook."""

from collections.abc import Sequence

from stackcost.analysis.ceiling.summary import Ceiling
from stackcost.analysis.summary import Factor
from stackcost.contracts.words import count
from stackcost.report.ceiling import sentences_of
from stackcost.report.difference import Difference, sentence
from stackcost.report.flags import failures_list, not_used, used_trials
from stackcost.report.http_figures import Curve, ceiling_over_axis, series
from stackcost.report.http_tls import KINDS, Tls
from stackcost.report.peer_parts import peer_sentences
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.story import loads_found
from stackcost.report.verdict_notes import verdict_notes
from stackcost.report.words import number, with_interval, with_range

NAMED = 2  # up to this number all factors are listed; of more, the smallest and the largest


def cpu_answer(runs: OpenedRuns) -> str:
    """The CPU cost of a connection, and the factor between two systems."""
    factors = runs.factors("cpu")
    if found := _told(factors, "us of CPU", "One connection takes"):
        peers = [line for summary in runs.summaries for line in peer_sentences(summary)]
        notes = [note for summary in runs.summaries for note in verdict_notes(summary)]
        return "\n\n".join([found, *dict.fromkeys(peers), *notes])
    quoted = [
        (server, level)
        for server in runs.servers
        if (level := server.quoted) and level.cost.median is not None
    ]
    known = sorted(
        (
            level.cost.median,
            f"{server.name} at {level.load}{'' if level.test else '/s'}",
        )
        for server, level in quoted
    )
    if not known:
        return "**No CPU cost was measured in these runs.**"
    if len({level.load for _, level in quoted}) > 1:
        each = "; ".join(f"{number(cost)} us of CPU on {name}" for cost, name in known)
        return (
            f"One connection takes {each}. **These are different loads, so they are not compared**:"
            " a connection costs less at a higher load."
        )
    shown = known if len(known) <= NAMED else [known[0], known[-1]]
    told = " and ".join(f"{number(cost)} us of CPU on {name}" for cost, name in shown)
    between = f" {_others(len(known) - 2, 'system')}" if len(known) > NAMED else ""
    return f"**One connection takes {told}.**{between}"


def http_answer(runs: OpenedRuns) -> str:
    """The highest figure of each kind, and its system."""
    best: dict[str, tuple[float, str]] = {}
    for summary in runs.tested:
        for one in series(summary):
            for name, points in one.points.items():
                for x, level in points.items():
                    value = one.value(level)
                    if value.median is None or one.what == "latency":
                        continue
                    where = ", ".join(filter(None, (one.test, name, one.at(x))))
                    words = f"{with_range(value)} {one.unit} ({where})"
                    tls = " over TLS" if level.http and level.http.tls else ""
                    kind = one.what + tls
                    best[kind] = max(best.get(kind, (0.0, "")), (value.median, words))
    if not best:
        return "**No test of HTTP clients was completed in these runs.**"
    return "**At most " + "; ".join(words for _, words in best.values()) + ".**"


def reached_answer(every: Sequence[Curve]) -> str:
    """The ceiling of each test over workers or cores, and the number that reaches it."""
    lines = [
        f"- {one.name}, {name}: {words}"
        for one in every
        for name, words in ceiling_over_axis(one).items()
    ]
    return "\n".join(lines) or (
        "Each system was measured with only one number of workers or cores, because the server has "
        "no more cores here. So the scaling is unknown. With `--share-cores` clients and server "
        "both use all cores; the tables say so."
    )


def tls_answer(pairs: Sequence[Tls]) -> str:
    """The rate with TLS compared with the rate without it, and the use of the additional time."""
    lines = []
    for pair in pairs:
        if pair.rate.median is None:
            lines.append(
                f"{pair.system}: how many times fewer connections {pair.over_tls.load} has than "
                f"{pair.plain.load} is not known: {pair.rate.reason}."
            )
            continue
        shares = [(share, kind) for kind in KINDS if (share := pair.share(kind)) is not None]
        told = ", ".join(f"{kind} {share:.0%}" for share, kind in sorted(shares, reverse=True))
        costs = pair.plain.cost, pair.over_tls.cost
        lines.append(
            f"**{pair.system}: {pair.over_tls.load} reaches {pair.rate.median:.1%} of "
            f"{pair.plain.load}** ({pair.rate.minimum:.1%} to {pair.rate.maximum:.1%} in the "
            f"rounds). One connection takes {with_range(costs[1])} us of the server's CPU instead "
            f"of {with_range(costs[0])}; the additional time is {told}. User time is the "
            "handshake's cryptography; the rest is more system calls, more packets and more "
            "round trips for each connection."
        )
    return "\n\n".join(lines) or "No test was made both with and without TLS."


def memory_answer(runs: OpenedRuns) -> str:
    """The memory of an open flow, and the factor between two systems."""
    if found := _told(runs.factors("memory"), "bytes", "One open flow takes"):
        return found
    known = [
        f"{number(server.memory['memory.total'].median)} bytes on {server.name}"
        for server in runs.servers
        if server.memory and server.memory["memory.total"].median is not None
    ]
    if known:
        return f"**One open flow takes {'; '.join(known)}.**"
    return "**No memory slope was measured in these runs.**"


def ceiling_answer(runs: OpenedRuns) -> str:
    """The sentence of every ceiling, or that no ceiling was searched."""
    found = [each for run in runs.ceilings for each in run.summary.ceilings]
    if found:
        return "\n\n".join(_ceiling_told(each) for each in found)
    if loads := [each for summary in runs.summaries if (each := loads_found(summary))]:
        return "\n\n".join(f"**{each.rstrip('.')}.**" for each in loads)
    return (
        "**No ceiling was searched in these runs** (`stackcost ceiling` does that). The tables "
        "below show how long connections take at the offered loads."
    )


def _ceiling_told(ceiling: Ceiling) -> str:
    """Its bounds first; what limits it, and what the reference system held, are the reasons."""
    told, *reference = sentences_of(ceiling)
    bounds = ceiling.bounds or told
    return " ".join([f"**{bounds}**{told.removeprefix(bounds)}", *reference])


def difference_answer(found: Sequence[Difference]) -> str:
    """The verdict of each comparison."""
    if not found:
        return "**There is nothing to compare: a comparison needs two runs with a common load.**"
    told = [sentence(each) for each in found]
    return "\n\n".join(f"**{each[:1].upper()}{each[1:]}.**" for each in told)


def trust_answer(runs: OpenedRuns) -> str:
    """The numbers of trials, of flagged trials, and of checks that hold."""
    trials = [trial for summary in runs.summaries for trial in used_trials(summary)]
    kept = "".join(f" {line}." for summary in runs.summaries if (line := not_used(summary)))
    flagged = sum(bool(trial.flags) for trial in trials)
    checks = [check.holds for trial in trials for check in trial.checks]
    unknown = checks.count(None)
    return (
        f"**{flagged or 'None'} of {count(len(trials), 'trial')} "
        f"{'are' if flagged > 1 else 'is'} flagged. {count(checks.count(True), 'check')} held, "
        f"{checks.count(False)} failed, and {unknown} {'was' if unknown == 1 else 'were'} not "
        f"possible on this machine.{kept}**\n\n{failures_list(runs.summaries)}"
    ).rstrip()


def _told(factors: Sequence[Factor], unit: str, start: str) -> str:
    known = [factor for factor in factors if factor.ratio.median is not None]
    if not known:
        return ""
    by_ratio = sorted(known, key=lambda factor: factor.ratio.median or 0.0)
    shown = known if len(known) <= NAMED else [by_ratio[0], by_ratio[-1]]
    told = [
        f"{start} {number(factor.baseline_cost.median)} {unit} on {factor.baseline} and "
        f"{number(factor.against_cost.median)} on {factor.against}: "
        f"{with_interval(factor.ratio)} times as much ({_at(factor.at)})"
        for factor in shown
    ]
    between = f" {_others(len(known) - 2, 'factor')}" if len(known) > NAMED else ""
    return f"**{'. '.join(told)}.**{between}"


def _others(number_of: int, what: str) -> str:
    if number_of == 1:
        return f"The other {what} is between them."
    return f"The other {number_of} {what}s are between them."


def _at(at: str) -> str:
    return at if at.startswith("slope") else f"at {at}"
