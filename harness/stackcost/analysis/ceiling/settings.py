"""The goals and the settings of a search, with MLRsearch's names.

Terms: draft-ietf-bmwg-mlrsearch, section 4 (goal attributes); the search itself is the package
MLRsearch, which FD.io's CSIT project publishes.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from stackcost.contracts.load import CeilingKind

UNITS: dict[CeilingKind, str] = {
    "connections": "connections/s",
    "flows": "open flows",
    "requests": "requests/s",
}


class Goal(BaseModel):
    """One rate to be found: the highest load at which trials lose no more than `loss_ratio`."""

    model_config = ConfigDict(frozen=True)

    name: Literal["NDR", "PDR"]
    loss_ratio: float = Field(ge=0, lt=1, description="share of the load that a trial may lose")


class SearchSettings(BaseModel):
    """One search. Durations in seconds; loads in the unit of what is searched for.

    `relative_width`: the search ends when its bounds are this close, as a share of the upper one. A
    load is a bound when trials of `final_trial_duration` with a total of `duration_sum` have
    decided that; trials with more loss than the goal allows may be the share `exceed_ratio` of this
    time. `first_load`: where the doubling of the load begins. `most_load`: the highest load.
    `repeats`: how often a trial with losses is repeated if the generator or the machine was
    disturbed. `confirmations`: how often both ends of the interval are tried again at the end; 0:
    no interval is wanted, as in a search for loads.
    """

    model_config = ConfigDict(frozen=True)

    goals: tuple[Goal, ...] = (Goal(name="NDR", loss_ratio=0.0), Goal(name="PDR", loss_ratio=0.005))
    relative_width: float = Field(default=0.005, gt=0, lt=1)
    initial_trial_duration: float = Field(default=2.0, gt=0)
    final_trial_duration: float = Field(default=5.0, gt=0)
    duration_sum: float = Field(default=35.0, gt=0)
    exceed_ratio: float = Field(default=0.5, ge=0, lt=1)
    first_load: float = Field(default=500.0, gt=0)
    most_load: float = Field(default=1_000_000.0, gt=0)
    repeats: int = Field(default=2, ge=0)
    confirmations: int = Field(default=0, ge=0)


CONFIRMATIONS = 2
QUICK = {
    "relative_width": 0.02,
    "initial_trial_duration": 2.0,
    "final_trial_duration": 2.0,
    "duration_sum": 6.0,
    "repeats": 1,
}
# A limit on open flows is a count, not a rate: the same in every trial, however short it holds.
FLOWS = {
    "initial_trial_duration": 1.0,
    "final_trial_duration": 1.0,
    "duration_sum": 1.0,
    "first_load": 1000.0,
    "most_load": 200_000.0,
}


def settings_for(
    of: CeilingKind, quick: bool = False, width: float | None = None, most: float | None = None
) -> SearchSettings:
    """The usual search for `of`; `quick`, `width` and `most` change it in that order."""
    chosen: dict[str, float] = {"confirmations": CONFIRMATIONS}
    if quick:
        chosen |= QUICK
    if of == "flows":
        chosen |= FLOWS
    if width is not None:
        chosen["relative_width"] = width
    if most is not None:
        chosen["most_load"] = most
    return SearchSettings.model_validate(chosen)
