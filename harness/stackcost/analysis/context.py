"""What a run's trials themselves do not say."""

from dataclasses import dataclass, field
from typing import Any

from stackcost.analysis.head import State
from stackcost.analysis.memory import Merged
from stackcost.contracts.collector import CollectedFigure
from stackcost.contracts.dut_settings import BackendOn
from stackcost.contracts.system import NotMeasured, System
from stackcost.contracts.tuning import Change


@dataclass(frozen=True, slots=True)
class Context:
    """What the trials themselves do not say.

    `systems`: those that were measured. `pairs`: of each factor, the names of the baseline and of
    the system against it. `backend_on`: as of `Summary`. `load_cpus`: the generator's cores; empty
    if it is on another host than the server. `merged_caches`: see `stackcost.analysis.slab`;
    `one_segment`: see `figures.rates`. `tcp`, `ceilings`, `loads_not_held`: as of `Summary`.
    `figures`: those that the run's own collectors bring. `of_gate`: the pytest gate made them.
    """

    run: str
    title: str
    systems: tuple[System, ...]
    pairs: tuple[tuple[str, str], ...]
    load_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    state: State
    machine: dict[str, Any]
    merged_caches: Merged
    tcp: str = "today"
    backend_on: BackendOn | None = None
    ceilings: dict[str, float] = field(default_factory=dict)
    loads_not_held: dict[str, list[float]] = field(default_factory=dict)
    tuning: dict[str, list[Change]] = field(default_factory=dict)
    not_measured: tuple[NotMeasured, ...] = ()
    tests_not_measured: dict[str, str] = field(default_factory=dict)
    core_hour_price: float | None = None
    one_segment: bool = False
    figures: tuple[CollectedFigure, ...] = ()
    of_gate: bool = False
