"""What a gate can judge: two rates that a clock times, and a cost that is counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from stackcost.analysis.figures import ceilings, counted, gate
from stackcost.analysis.figures.figure import Declared


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A figure that a gate judges.

    `title`: its name for people. `name`: among a trial's figures. `declared`: has its definition.
    `unit`: in words. `checkpoints`: numbers of trials after which they are tested; a baseline has
    as many as the last. `quick`: the same with `--stackcost-quick`. `trial`: one and several of
    them in words. `parts`: figures whose kinds explain it, and what they are. `suffix`: in the
    names of its baselines. `short`: in the names of JUnit's properties.
    """

    title: str
    name: str
    declared: Declared
    unit: str
    checkpoints: tuple[int, ...]
    quick: tuple[int, ...] = (8,)
    trial: tuple[str, str] = ("trial", "trials")
    parts: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""
    short: Literal["cps", "instructions"] = "cps"

    @property
    def counted(self) -> bool:
        """Whether it is a count: a cost, and no rate, that no clock and no neighbour changes."""
        return self.short == "instructions"


WHOLE_CORES = Judged(
    title="rate for whole cores",
    name=gate.WHOLE_CORES.name,
    declared=gate.WHOLE_CORES,
    unit="connections/s",
    checkpoints=(6, 10, 14, 20),
    parts={
        "server_cpu": "CPU time of the server per connection, us (median)",
        "softirq": "softirq time by vector, us",
    },
)
# A search takes as long as several trials. Against a number, fewer than nine cannot tell.
CEILING = Judged(
    title="ceiling",
    name="ceiling.connections.PDR",
    declared=ceilings.OF_CEILINGS["connections"][0],
    unit="connections/s",
    checkpoints=(9, 14),
    trial=("search", "searches"),
    suffix="-ceiling",
)
# Counts of the same differ by less than 0.2 %, so one trial decides.
COST = Judged(
    title="cost in instructions",
    name=counted.TOTAL.name,
    declared=counted.TOTAL,
    unit="instructions per connection",
    checkpoints=(1,),
    quick=(1,),
    parts={counted.FUNCTIONS.name: "instructions per connection by function"},
    suffix="-counted",
    short="instructions",
)
RATES = {each.title: each for each in (WHOLE_CORES, CEILING)}
