"""What an agent reads of its host while its server runs."""

from contextlib import ExitStack

from stackcost.collect.cpu_account import Detail
from stackcost.contracts.collector import Phase
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.sides.sampling import Sampling
from stackcost.sides.server import RunningServer


class HostSampler:
    """The readings of a server, sent when they are asked for. `exit`: ends them."""

    def __init__(self, server: RunningServer, exit: ExitStack):
        self._server = server
        self._exit = exit
        self._sampling: Sampling | None = None
        self._taken = 0
        self._kept: list[Sample] = []  # read, and not asked for yet

    @property
    def _begun(self) -> Sampling:
        if self._sampling is None:
            raise StackcostError("nothing is read yet")
        return self._sampling

    def start(self, detail: Detail) -> None:
        """Read everything periodically from now on."""
        self._sampling = self._exit.enter_context(self._server.sampling([], detail))

    def read_now(self) -> list[Sample]:
        """Read everything now and return it, and nothing else: an edge has to be read quickly."""
        read = self._begun.read_now()
        now = {id(sample) for sample in read}
        self._kept = [each for each in self.take() if id(each) not in now]
        return read

    def take(self) -> list[Sample]:
        """What was read since the last request, edges excepted."""
        found = self._begun.samples[self._taken :]
        self._taken += len(found)
        found, self._kept = self._kept + found, []
        return found

    def read_often(self, interval_s: float) -> None:
        """From the next reading on, read those that are read often at this interval, too."""
        self._begun.read_often(interval_s)

    def in_phase(self, phase: Phase, on: bool) -> None:
        """Begin or end what the collectors read in this phase of a trial only."""
        self._begun.in_phase(phase, on)
