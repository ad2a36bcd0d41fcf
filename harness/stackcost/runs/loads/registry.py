"""The kinds of load that an experiment has sections for. A new one is a line here."""

from typing import Any

from stackcost.experiment.schema import Experiment
from stackcost.runs.loads.constant import Constant
from stackcost.runs.loads.counted import CountedConnections
from stackcost.runs.loads.held import Holds
from stackcost.runs.loads.http import Http
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.own import own_kind

# In the order of a turn: memory first, because server and kernel keep some of what a load took.
KINDS: tuple[type[Holds] | type[Constant] | type[Http], ...] = (Holds, Constant, Http)


def kinds_of(experiment: Experiment) -> list[LoadKind[Any, Any]]:
    """The kinds of load, as this experiment offers them; one of its own in place of `Constant`.

    StackcostError if the file of that has none.
    """
    if experiment.counted:
        return [CountedConnections(experiment)]
    own = experiment.load.offered_by
    return [
        own_kind(own)(experiment) if own and kind is Constant else kind(experiment)
        for kind in KINDS
    ]
