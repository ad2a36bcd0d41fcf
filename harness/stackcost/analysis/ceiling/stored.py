"""The stored trials of a search, and the replay of the search with them.

A search is deterministic, so a replay with its stored trials gives the same bounds. For a search
that was cut short it gives the bounds found until then.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from stackcost.analysis.ceiling.controller import (
    HOPELESS,
    SearchResult,
    TrialLoss,
    replayed,
)
from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.contracts.load import CeilingKind, Loss, SearchStep
from stackcost.contracts.trial import Trial


class SearchKey(NamedTuple):
    """Which search a trial belongs to; `round` counts searches for the same thing from 1."""

    server: str
    of: CeilingKind
    round: int


def step_of(trial: Trial) -> SearchStep:
    """The load of a trial of a search, and its losses."""
    return trial.load_of(SearchStep)


def key_of(trial: Trial) -> SearchKey:
    """The search of a trial."""
    return SearchKey(trial.server, step_of(trial).of, trial.round)


def is_reference(trial: Trial) -> bool:
    """Whether it was offered to the reference system, after the search that it belongs to."""
    return step_of(trial).reference


def is_over(trial: Trial) -> bool:
    """Whether the trial is complete, so that its loss was counted."""
    return step_of(trial).loss is not None


def stored_loss(trial: Trial) -> Loss:
    """The loss that was counted when the trial ran. The trial must be over."""
    loss = step_of(trial).loss
    assert loss is not None
    return loss


def trial_loss(trial: Trial) -> TrialLoss:
    """The loss of a trial, for the search."""
    loss = stored_loss(trial)
    return TrialLoss(loss.intended, loss.lost, bool(loss.disturbed) and loss.lost > 0)


def needs_repeat(trial: Trial) -> bool:
    """Whether the trial had losses that the generator or the machine may have caused.

    A trial that lost 10 % or more is not repeated: a repeat would not change the result.
    """
    return bool(stored_loss(trial).disturbed) and 0 < trial_loss(trial).loss_ratio < HOPELESS


def decisive(attempts: Sequence[Trial]) -> Trial:
    """The attempt of a trial that counts.

    It is the last one. If that was also disturbed, it is the attempt with the lowest loss, because
    a disturbance can only add losses.
    """
    last = attempts[-1]
    return min(attempts, key=lambda t: trial_loss(t).loss_ratio) if needs_repeat(last) else last


def attempts_of(trials: Iterable[Trial]) -> list[list[Trial]]:
    """The trials of one search in order, each with its repeats; without those cut short."""
    over = [trial for trial in trials if is_over(trial) and not is_reference(trial)]
    grouped: list[list[Trial]] = []
    for trial in over:
        if step_of(trial).repeat and grouped:
            grouped[-1].append(trial)
        else:
            grouped.append([trial])
    return grouped


def search_again(trials: Iterable[Trial], settings: SearchSettings) -> SearchResult:
    """The outcome of one search from its stored trials, up to the first that is missing."""
    known = [
        (step_of(attempts[0]).load, trial_loss(decisive(attempts)))
        for attempts in attempts_of(trials)
    ]
    return replayed(settings, known)


def by_search(trials: Iterable[Trial]) -> dict[SearchKey, list[Trial]]:
    """All steps of searches by the search they belong to, in the order of the searches."""
    ordered: dict[SearchKey, list[Trial]] = {}
    steps = (trial for trial in trials if trial.load_as(SearchStep))
    for key, part in groupby(steps, key_of):
        ordered.setdefault(key, []).extend(part)
    return ordered
