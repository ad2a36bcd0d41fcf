"""Flows held open: they are opened, held while memory is read, and let close."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.diagnosis import QUEUES, diagnosis
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ESTABLISHED, HeldFlows
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.experiment.matrix import Variant
from stackcost.experiment.schema import Experiment
from stackcost.host.timeouts import scaled_timeout
from stackcost.host.waiting import wait_until
from stackcost.runs.loads.constant import over_tls
from stackcost.runs.loads.kernel_states import end_time_wait, half_open, time_wait, tracked
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.reading import reading_server, reset_server
from stackcost.runs.turn import PlannedTrials
from stackcost.session.path import Frames, count_frames, frames_since
from stackcost.session.profile_session import POLL_S, ProfileSession

READINGS = 4  # at least, inside the hold; their median counts
OPEN_TIMEOUT_S = 10.0  # for the last flows to open, beyond what the rate needs
TRIES = 4  # of flows that come too fast, at a half, a quarter and an eighth of the rate at last
SPARE_S = 1.0  # flows are held so much longer than the plan needs; a slow host reads for longer
EXTRA_S = 1.5  # of a trial, measured on a machine with two cores; for the remaining time only


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """How flows are held, in seconds.

    `settle_s`: between the last flow's opening and the hold. `hold_s`: the hold, with so many
    `readings` from edge to edge. `close_s`: the longest wait for the last flow to close, beyond
    the hold. `all_open`: whether all must open, as for a figure; otherwise those count that are
    open and served, as in a search for how many can be.
    """

    settle_s: float
    hold_s: float
    close_s: float
    readings: int = READINGS
    all_open: bool = True

    @classmethod
    def of(cls, experiment: Experiment) -> "Holding":
        """What the section `memory` of an experiment says."""
        part = experiment.memory
        return cls(settle_s=part.settle_s, hold_s=part.read_s, close_s=experiment.load.drain_s)

    def flow_s(self, opening_s: float) -> float:
        """How long the first flow stays open: until all are, they have settled and were read."""
        return opening_s + self.settle_s + scaled_timeout(self.hold_s + SPARE_S)


class Holds(LoadKind[ProfileSession, HeldFlows]):
    """The section `memory` of an experiment. The slope of memory needs all counts on one bed.

    Flows that do not all open cost their trial and not the run. Where a queue overflowed, they are
    opened again at half the rate, and so are those of the turn's further trials.
    """

    together = True

    def __init__(self, experiment: Experiment):
        self._part, self._how = experiment.memory, Holding.of(experiment)
        self._open_cps = experiment.memory.open_cps
        self._over = over_tls(experiment.load)

    def loads(self, variant: Variant) -> list[HeldFlows]:
        """Each number of flows in each state; most states need a server on the kernel's stack."""
        kernel = variant.kind.kernel_stack
        states = [state for state in self._part.states if kernel or state == ESTABLISHED]
        return [
            HeldFlows(open_flows=count, state=state)
            for state in states
            for count in self._part.in_order(state)
        ]

    def seconds(self, load: HeldFlows) -> float:
        """Opening and closing take the same time."""
        opening = load.open_flows / (load.open_cps or self._open_cps)
        return 2 * opening + self._how.settle_s + self._how.hold_s + (EXTRA_S if opening else 0)

    def words(self, load: HeldFlows) -> str:
        """How many flows."""
        return f"{load.open_flows:,} flows held open{self._over}"

    def steps(self, session: ProfileSession, trial: Trial, load: HeldFlows) -> PlannedTrials[None]:
        """The trial; while a queue overflows as its flows open, again at half the rate."""
        for _ in range(TRIES):
            asked = replace(load, open_cps=self._open_cps)
            attempts = yield self.planned(session, replace(trial, load=asked), asked)
            if not overflowed(attempts[-1]):
                return
            self._open_cps /= 2

    def offer(self, session: ProfileSession, trial: Trial) -> None:
        """A device goes on tracking the closed flows of the trial before, so that is ended."""
        session.serving.reset()
        try:
            hold_flows(session, trial, self._how)
        except NotOpened as error:
            trial.load_of(HeldFlows).not_opened = trial.set_aside = error.what
            session.generator.stop()
            reset_server(session)


class NotOpened(StackcostError):
    """Not all flows of a trial opened."""


def overflowed(trial: Trial) -> bool:
    """Whether flows of a trial did not open because they came too fast for a queue."""
    if not trial.load_of(HeldFlows).not_opened:
        return False
    return all(sign.place in QUEUES for sign in diagnosis(Readings(trial)))


def hold_flows(session: ProfileSession, trial: Trial, how: Holding) -> None:
    """Hold the flows of the trial's `HeldFlows`; fill in phases, samples, what was counted.

    NotOpened, with what was counted of the cause, if all must open and do not.
    """
    load = trial.load_of(HeldFlows)
    with reading_server(session, trial, load), _following(session):
        if load.state == "half-open":
            with half_open(session, load.open_flows) as held:
                _read(session, trial, load, how, held)
        elif load.state == "time-wait":
            with time_wait(session, load.open_flows) as held:
                _read(session, trial, load, how, held)
            if load.open_flows == max(session.experiment.memory.open_flows):
                end_time_wait(session)
        else:
            with tracked(session) if load.state == "tracked" else nullcontext():
                if load.open_flows:
                    _hold_generators(session, trial, load, how)
                else:
                    _read(session, trial, load, how, lambda: _open_now(session))


@contextmanager
def _following(session: ProfileSession) -> Iterator[None]:
    """Follow allocations: the trial's samples then say who allocated a cache's objects."""
    session.sampler.in_phase("held", True)
    try:
        yield
    finally:
        session.sampler.in_phase("held", False)


def _hold_generators(session: ProfileSession, trial: Trial, load: HeldFlows, how: Holding) -> None:
    """Flows of the generators, which open them, keep them for a time, and close them."""
    part, count = session.experiment.memory, load.open_flows
    load.open_cps = load.open_cps or part.open_cps
    frames, opening_s = count_frames(session), count / load.open_cps
    hold = {"flows": count, "cps": load.open_cps, "hold_seconds": how.flow_s(opening_s)}
    session.load_profile(part.profile, session.tunables() | hold)
    began = session.read_edge()
    session.generator.start(mult=1)
    end = time.monotonic() + how.flow_s(opening_s)  # of the first flow
    time.sleep(opening_s)
    if how.all_open:
        limit_s = scaled_timeout(OPEN_TIMEOUT_S)
        if not wait_until(lambda: _open_now(session) >= count, limit_s, POLL_S):
            raise _not_all(session, trial, load, began, frames)
    now = _open_now if how.all_open else _served_now
    _read(session, trial, load, how, lambda: now(session), began)
    load.overrun_s = max(0.0, time.monotonic() - end)
    load.cut_flows = session.end_traffic(how.flow_s(opening_s) + how.close_s)
    session.read_generator(load)
    load.frames = frames_since(session, frames)


def _read(
    session: ProfileSession,
    trial: Trial,
    load: HeldFlows,
    how: Holding,
    held: Callable[[], float],
    began: float | None = None,
) -> None:
    """Read at the edges of the hold and between. `began`: when the first flow was opened."""
    time.sleep(how.settle_s)
    first = session.read_edge()
    if began is not None:
        trial.phases["opening"] = Window(began, first)
    for _ in range(how.readings - 1):
        time.sleep(how.hold_s / (how.readings - 1))
        last = session.read_edge()
    trial.phases["hold"] = Window(first, last)
    session.sampler.in_phase("held", False)
    session.check_stack("during")
    load.held_flows = held()  # after the reading: none closed during it
    load.limits = session.serving.limits(session.experiment.workload.port)


def established(client: Mapping[str, float]) -> float:
    """Flows that a generator's client has established and not closed, by its counters.

    TRex's own `m_est_flows` takes all that closed off those, so a connection that was refused hides
    one that is open; such are counted in `tcps_conndrops` too.
    """
    ended = client.get("tcps_closed", 0) - client.get("tcps_conndrops", 0)
    return max(0.0, float(client.get("tcps_connects", 0) - ended))


def _open_now(session: ProfileSession) -> float:
    return established(session.generator.stats()["traffic"]["client"])


def _served_now(session: ProfileSession) -> float:
    """Flows that are open and have received their whole response.

    A flow in the accept queue of a full server is open for the client, but not served.
    """
    client = session.generator.stats()["traffic"]["client"]
    tls = session.tls_counts()
    received = tls.received_bytes if tls else int(client.get("tcps_rcvbyte", 0))
    served = received // session.response_bytes
    return min(established(client), float(served))


def _not_all(
    session: ProfileSession, trial: Trial, load: HeldFlows, began: float, frames: Frames | None
) -> NotOpened:
    """Why not all flows opened, by what was counted until now."""
    opened = _open_now(session)
    trial.phases["opening"] = Window(began, session.read_edge())
    session.read_generator(load)
    load.frames = frames_since(session, frames)
    trial.samples = session.trial_samples()
    return NotOpened(
        f"only {opened:,.0f} of {load.open_flows:,} flows opened, at {load.open_cps:g}/s"
        + "".join(f"; {sign.words}" for sign in diagnosis(Readings(trial)))
    )
