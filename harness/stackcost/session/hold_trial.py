"""One memory trial: open a number of flows, hold them, read memory, let them close."""

from collections.abc import Callable
from contextlib import nullcontext

from stackcost.analysis.diagnosis import QUEUES, diagnosis
from stackcost.analysis.readings import Readings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import HeldFlows
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.host.patience import patient
from stackcost.host.waiting import wait_until
from stackcost.session.kernel_states import end_time_wait, half_open, time_wait, tracked
from stackcost.session.limits import refused_since
from stackcost.session.load_trial import end_traffic
from stackcost.session.path import count_frames, frames_since
from stackcost.session.profile_session import ProfileSession

READINGS = 4  # at least, inside the hold; their median counts
OPEN_PATIENCE_S = 10.0  # for the last flows to open, beyond what the rate needs
POLL_S = 0.1
SPARE_S = 1.0  # flows are held so much longer than the plan needs; a slow host reads for longer


def run_hold_trial(session: ProfileSession, trial: Trial) -> None:
    """Hold the flows of its `HeldFlows`; fill in phase, samples, what was counted.

    StackcostError, with what was counted of the cause, if they do not all open.
    """
    load = trial.load
    assert isinstance(load, HeldFlows)
    count, state = load.open_flows, load.state
    session.serving.reset()  # a device goes on tracking the closed flows of the trial before
    refused = session.serving.refusals()
    session.begin_trial()
    try:
        if state == "half-open":
            with half_open(session, count) as held:
                _read_held(session, trial, load, held)
        elif state == "time-wait":
            with time_wait(session, count) as held:
                _read_held(session, trial, load, held)
            if count == max(session.experiment.memory.open_flows):
                end_time_wait(session)
        else:
            with tracked(session) if state == "tracked" else nullcontext():
                if count:
                    _open_flows(session, trial, load)
                _read_held(session, trial, load, lambda: _open_now(session))
                if count:
                    patience_s = _hold_seconds(session, count) + session.experiment.load.drain_s
                    load.cut_flows = end_traffic(session, patience_s)
                    session.read_generator(load)
        if load.limits:
            load.limits.refused = refused_since(session, refused)
    finally:
        trial.samples = session.trial_samples()


def _read_held(
    session: ProfileSession, trial: Trial, load: HeldFlows, held: Callable[[], float]
) -> None:
    part = session.experiment.memory
    session.progress.pause(part.settle_s)
    trial.phases["hold"] = _read_memory(session, part.read_s)
    session.look("during")
    load.held_flows = held()  # after the reading: none closed during it
    load.limits = session.serving.limits(session.experiment.workload.port)


def _hold_seconds(session: ProfileSession, count: int) -> float:
    """How long the first flow stays open: until all are, they have settled and were read."""
    part = session.experiment.memory
    return count / part.open_cps + part.settle_s + patient(part.read_s + SPARE_S)


def _open_flows(session: ProfileSession, trial: Trial, load: HeldFlows) -> None:
    part, count = session.experiment.memory, load.open_flows
    frames = count_frames(session)
    began = session.read_edge()
    hold = {"flows": count, "cps": part.open_cps, "hold_seconds": _hold_seconds(session, count)}
    session.loading.load_profile(part.profile, session.tunables() | hold)
    session.loading.start(mult=1)
    session.progress.pause(count / part.open_cps)
    if not wait_until(lambda: _open_now(session) >= count, patient(OPEN_PATIENCE_S), POLL_S):
        opened = _open_now(session)
        trial.phases["opening"] = Window(began, session.read_edge())
        session.read_generator(load)
        load.frames = frames_since(session, frames)
        trial.samples = session.trial_samples()
        signs = diagnosis(Readings(trial))
        too_fast = all(sign.place in QUEUES for sign in signs)
        raise StackcostError(
            f"only {opened:,.0f} of {count:,} flows opened, at {part.open_cps:g}/s"
            + "".join(f"; {sign.words}" for sign in signs),
            "lower memory.open_cps or memory.open_flows in the experiment" if too_fast else "",
        )


def _open_now(session: ProfileSession) -> float:
    return float(session.loading.stats()["traffic"]["client"].get("m_est_flows", 0))


def _read_memory(session: ProfileSession, length: float) -> Window:
    first = session.read_edge()
    for _ in range(READINGS - 1):
        session.progress.pause(length / (READINGS - 1))
        last = session.read_edge()
    return Window(first, last)
