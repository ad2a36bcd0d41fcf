"""What a run's trials themselves do not say."""

from dataclasses import dataclass

from stackcost.analysis.memory.memory import Merged
from stackcost.analysis.summary import Summary
from stackcost.contracts.collector import CollectedFigure
from stackcost.contracts.system import System


@dataclass(frozen=True, slots=True)
class Context:
    """What the trials themselves do not say.

    `summary`: what it says of the run's setting, without results yet. `systems`: those that were
    measured. `pairs`: of each factor, the names of the baseline and of the system against it.
    `load_cpus`: the generator's cores; empty if it is on another host than the server.
    `merged_caches`: see `memory.slab`; `one_segment`: see `figures.rates`. `figures`:
    those that the run's own collectors bring. `of_gate`: the pytest gate made them.
    """

    summary: Summary
    systems: tuple[System, ...]
    pairs: tuple[tuple[str, str], ...]
    load_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    merged_caches: Merged
    one_segment: bool = False
    figures: tuple[CollectedFigure, ...] = ()
    of_gate: bool = False
