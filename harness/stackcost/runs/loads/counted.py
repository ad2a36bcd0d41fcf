"""Connections whose instructions are counted, in a guest whose clock is its count."""

import time
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import CountedLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.counting.counts import read_counts, samples_of
from stackcost.counting.session import CountingSession, open_counting_session
from stackcost.experiment.counted_section import Counted
from stackcost.experiment.matrix import Variant
from stackcost.experiment.schema import Experiment
from stackcost.runs.loads.kind import LoadKind

WARM_UP_SHARE = 0.4  # of the connections: caches of memory and of routes are filled by then
FIRST_OPEN_S = 0.11  # from the start to the first connection, as TRex has it
TRIAL_S = 30.0
TRAFFIC_LIMIT_S = 600.0


class CountedConnections(LoadKind[CountingSession, CountedLoad]):
    """A number of whole connections in each round; the experiment's rates are not used."""

    open = staticmethod(open_counting_session)

    def __init__(self, experiment: Experiment):
        assert experiment.counted is not None
        self._part: Counted = experiment.counted

    def loads(self, variant: Variant) -> list[CountedLoad]:
        """One."""
        part = self._part
        return [CountedLoad(offered_cps=part.offered_cps, connections=part.connections)]

    def seconds(self, load: CountedLoad) -> float:
        """On a machine that is not busy."""
        return TRIAL_S

    def words(self, load: CountedLoad) -> str:
        """Their number."""
        return f"{load.connections:,} connections, counted"

    def offer(self, session: CountingSession, trial: Trial) -> None:
        """Warm up, then count whole connections: nothing is open at either edge."""
        load = trial.load_of(CountedLoad)
        rate = load.offered_cps
        self._connections(session, rate, WARM_UP_SHARE * load.connections, checked=True)
        begin = time.monotonic()
        with session.guest.window() as path:
            self._connections(session, rate, load.connections)
        trial.phases["sustain"] = window = Window(begin, time.monotonic())
        load.client = _counters(session)  # of the last start alone
        counts = read_counts(path, session.symbols())
        trial.samples = list(samples_of(counts, session.tasks, window))
        path.unlink()

    def _connections(
        self, session: CountingSession, rate: float, number: float, checked: bool = False
    ) -> None:
        """`checked`: the stack is looked at meanwhile, which costs instructions."""
        session.client.start(mult=rate, duration=FIRST_OPEN_S + number / rate)
        if checked:
            session.check_stack("during")
        try:
            session.client.wait_on_traffic(TRAFFIC_LIMIT_S)
        except StackcostError as error:
            raise StackcostError(
                f"{error.what}: one processor at 1,000 instructions a microsecond may not hold "
                f"{rate:g} connections/s",
                "lower counted.offered_cps, or count on a machine that is less busy",
            ) from error


def _counters(session: CountingSession) -> dict[str, Any]:
    told = session.client.stats()["traffic"]["client"]
    return {name: value for name, value in told.items() if isinstance(value, int | float)}
