"""From the stored trials of searches to the summary of their ceilings."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from stackcost.analysis.ceiling.bottleneck import Bottleneck, find_bottleneck
from stackcost.analysis.ceiling.controller import HOPELESS, Bounds, SearchResult, TrialLoss
from stackcost.analysis.ceiling.interval import COVERAGE
from stackcost.analysis.ceiling.sentences import ceiling_sentences, reference_sentence
from stackcost.analysis.ceiling.settings import UNITS, Goal, SearchSettings
from stackcost.analysis.ceiling.stored import (
    SearchKey,
    attempts_of,
    by_search,
    decisive,
    is_over,
    is_reference,
    search_again,
    step_of,
    stored_loss,
    trial_loss,
)
from stackcost.analysis.ceiling.summary import (
    Ceiling,
    CeilingSummary,
    Rate,
    Reference,
    ReferenceTrial,
    RepeatedCeiling,
    Stopped,
    TraceRow,
)
from stackcost.analysis.cost.core_time import engine_busy_share
from stackcost.analysis.figures import registry
from stackcost.analysis.figures.ceilings import OF_CEILINGS
from stackcost.analysis.head import Figures, State
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.load import CeilingKind
from stackcost.contracts.trial import Trial

# Trials in a row without anything that passed, one of them at a load that was held before. After
# fewer of them a device may still recover from the overload of a trial before.
ENOUGH = 3


def first_without_any(tried: Sequence[tuple[float, TrialLoss]]) -> int | None:
    """The place of the first trial from which on nothing passed; None while that is not certain.

    `tried`: load and loss of each trial of a search in order.
    """
    first = len(tried)
    while first and (loss := tried[first - 1][1]).lost >= loss.intended > 0:
        first -= 1
    most = max((load for load, loss in tried[:first] if loss.loss_ratio < HOPELESS), default=0.0)
    dead = [load for load, _ in tried[first:]]
    return first if len(dead) >= ENOUGH and min(dead) <= most else None


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


def summarise_ceilings(
    trials: Sequence[Trial],
    run: str,
    plan: Mapping[str, Any],
    state: State,
    machine: Mapping[str, Any],
) -> CeilingSummary:
    """The answer of a run; `plan` is the manifest's `experiment`."""
    settings: dict[CeilingKind, SearchSettings] = {
        of: SearchSettings.model_validate(stored)
        for of, stored in plan["ceiling"]["settings"].items()
    }
    device = plan["dut"]["device"]
    expected = device["expects"] if device else {}
    ceilings = [
        ceiling_of(key, part, settings[key.of], plan["cores"]["server"]).model_copy(
            update={"expected": expected.get(key.of)}
        )
        for key, part in by_search(trials).items()
    ]
    return CeilingSummary(
        run=run,
        title=plan["title"],
        state=state,
        machine=dict(machine),
        definitions=registry.definitions(registry.CEILINGS),
        found={
            system: Figures(figures=_figures([c for c in ceilings if c.server == system]))
            for system in dict.fromkeys(each.server for each in ceilings)
        },
        ceilings=ceilings,
        repeated=repeatability(ceilings),
    )


def _figures(ceilings: Sequence[Ceiling]) -> dict[str, Spread]:
    """Of one system, searched for one thing or for several."""
    return {
        name: spread
        for of in dict.fromkeys(each.of for each in ceilings)
        for name, spread in registry.computed(
            OF_CEILINGS[of], [each for each in ceilings if each.of == of]
        ).items()
    }


def ceiling_of(
    key: SearchKey, trials: Sequence[Trial], settings: SearchSettings, server_cpus: Sequence[int]
) -> Ceiling:
    """The ceiling that the trials of one search found, and what set it."""
    passing, dead = _until_it_stopped(trials)
    outcome = search_again(passing, settings)
    bottleneck = _read(dead, server_cpus) if dead else _bottleneck(trials, outcome, server_cpus)
    stopped = _stopped(passing, settings) if dead else None
    rates = [_rate(goal, bounds) for goal, bounds in outcome.bounds.items()]
    reference = _reference(trials, key.of)
    tried = max((step_of(trial).load for trial in trials if not is_reference(trial)), default=0.0)
    at_least = "" if dead else _why_at_least(rates, outcome.complete, bottleneck, reference, tried)
    counted = [decisive(attempts) for attempts in attempts_of(trials)]
    tries = [(step_of(trial).load, trial_loss(trial).loss_ratio) for trial in counted]
    told = rates, outcome.complete, at_least, bottleneck, tries, stopped
    bounds, reasons = ceiling_sentences(key.server, UNITS[key.of], *told)
    ends = [window for trial in trials for window in trial.phases.values()]
    return Ceiling(
        server=key.server,
        of=key.of,
        unit=UNITS[key.of],
        round=key.round,
        complete=outcome.complete,
        settings=settings,
        rates=rates,
        at_least=at_least,
        bottleneck=bottleneck,
        reference=reference,
        sentence=f"{bounds} {reasons}".rstrip(),
        bounds=bounds,
        seconds=max(w.end for w in ends) - min(w.start for w in ends) if ends else 0.0,
        trace=[row for attempts in attempts_of(trials) for row in _rows(attempts, server_cpus)],
        stopped=stopped,
    )


def _rate(goal: Goal, bounds: Bounds) -> Rate:
    return Rate(
        name=goal.name,
        loss_ratio=goal.loss_ratio,
        value=bounds.throughput,
        lower=bounds.lower,
        upper=bounds.upper,
        low=bounds.interval and bounds.interval.low,
        high=bounds.interval and bounds.interval.high,
        coverage=bounds.interval and COVERAGE,
    )


def _until_it_stopped(trials: Sequence[Trial]) -> tuple[Sequence[Trial], Trial | None]:
    """The trials until the system passed nothing any more, and the first in which nothing passed.

    All of them, and None, if it passed something until the end.
    """
    attempts = attempts_of(trials)
    first = first_without_any(
        [(step_of(each[0]).load, trial_loss(decisive(each))) for each in attempts]
    )
    if first is None:
        return trials, None
    return [trial for each in attempts[:first] for trial in each], decisive(attempts[first])


def _stopped(passing: Sequence[Trial], settings: SearchSettings) -> Stopped:
    """What was held before; `passing`: the trials until then."""
    allowed = max(goal.loss_ratio for goal in settings.goals)
    counted = [decisive(attempts) for attempts in attempts_of(passing)]
    held = {step_of(t).load for t in counted if trial_loss(t).loss_ratio <= allowed}
    return Stopped(after=counted[-1].number, held=sorted(held))


def _read(trial: Trial, server_cpus: Sequence[int]) -> Bottleneck:
    return find_bottleneck(Readings(trial, server_cpus), stored_loss(trial).disturbed)


def _bottleneck(
    trials: Sequence[Trial], outcome: SearchResult, server_cpus: Sequence[int]
) -> Bottleneck | None:
    """From the lowest load above the no drop rate that lost something; None when none did."""
    uppers = [bounds.upper for bounds in outcome.bounds.values() if bounds.upper is not None]
    lossy = [
        trial
        for attempts in attempts_of(trials)
        if trial_loss(trial := decisive(attempts)).lost
        and step_of(trial).load >= min(uppers, default=0.0)
    ]
    if not lossy:
        return None
    first = min(lossy, key=lambda trial: (step_of(trial).load, -trial_loss(trial).loss_ratio))
    return _read(first, server_cpus)


def _reference(trials: Sequence[Trial], of: CeilingKind) -> Reference | None:
    offered = [trial for trial in trials if is_reference(trial) and is_over(trial)]
    if not offered:
        return None
    rows = [
        ReferenceTrial(
            number=trial.number,
            load=step_of(trial).load,
            loss_ratio=trial_loss(trial).loss_ratio,
            generator_busy=engine_busy_share(
                Readings(trial).at(trial.traffic.main_phase), "generator"
            ),
        )
        for trial in offered
    ]
    carried = max((row.load for row in rows if not row.loss_ratio), default=None)
    return Reference(
        carried=carried, trials=rows, sentence=reference_sentence(carried, rows, UNITS[of])
    )


def _why_at_least(
    rates: Sequence[Rate],
    complete: bool,
    bottleneck: Bottleneck | None,
    reference: Reference | None,
    highest: float,
) -> str:
    """Why the server may hold more than the found ceiling; empty if it cannot."""
    if complete and rates[0].lower is not None and rates[0].upper is None:
        return f"the search was limited to {highest:,.0f}"
    if bottleneck and bottleneck.cause == "generator":
        return "the generator was the limit"
    upper = rates[0].upper
    if reference and upper and (reference.carried is None or reference.carried < upper):
        return "the reference peer lost part of the same load, so generator or path was the limit"
    if bottleneck and bottleneck.disturbed:
        return f"trial {bottleneck.trial} was disturbed: {bottleneck.disturbed[0]}"
    return ""


def _rows(attempts: Sequence[Trial], server_cpus: Sequence[int]) -> list[TraceRow]:
    chosen = decisive(attempts)
    return [
        TraceRow(
            number=trial.number,
            load=step_of(trial).load,
            duration_s=step_of(trial).duration_s,
            intended=trial_loss(trial).intended,
            lost=trial_loss(trial).lost,
            loss_ratio=trial_loss(trial).loss_ratio,
            lost_by=stored_loss(trial).lost_by,
            repeat=step_of(trial).repeat,
            decisive=trial is chosen,
            disturbed=stored_loss(trial).disturbed,
            flags=flags_of(Readings(trial, server_cpus)),
        )
        for trial in attempts
    ]
