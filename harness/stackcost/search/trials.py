"""One trial of a search: it offers a load and counts what is lost.

docs/metrics.md defines loss for each of the three ceilings.
"""

import time
from collections.abc import Mapping

from stackcost.analysis.flags import disturbances
from stackcost.analysis.readings import Readings
from stackcost.collect.engine import SCHEDULE_METHOD
from stackcost.contracts.load import CeilingKind, ConstantLoad, HeldFlows, Loss, SearchStep
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.files import PROFILES
from stackcost.host.patience import patient
from stackcost.host.waiting import wait_until
from stackcost.session.limits import refused_since
from stackcost.session.load_trial import OVERHANG_S, end_traffic, offer_load
from stackcost.session.path import count_frames, frames_since
from stackcost.session.profile_session import ProfileSession

KEEPALIVE_PROFILE = PROFILES / "http_keepalive.py"
REQUESTS_PER_CONNECTION = 20
TIME_WAIT_S = 0.5  # the client's: a connection counts as ended only after it
# Time after the end of the load; what is not answered by then counts as lost.
ANSWER_LIMIT_S = {"connections": TIME_WAIT_S + 0.02, "requests": 0.05}
START_LAG_S = 0.3  # TRex needs some 0.1 s from the call that starts it to its first connection
WARM_UP_S = 0.6  # longer than TIME_WAIT, so that as many connections end as begin
SETTLE_S = 0.5  # between the last flow's opening and the hold
SPARE_S = 1.0  # flows are held this much longer than the trial needs
CLOSE_PATIENCE_S = 5.0
RESET_PATIENCE_S = 3.0
POLL_S = 0.1


def prepare(session: ProfileSession, of: CeilingKind) -> None:
    """Load the profile of these trials on both sides; flows use a new profile for each trial."""
    if of == "flows":
        session.serving.serve(session.experiment.memory.profile, _tunables(session, {}))
        return
    extra = {"requests": REQUESTS_PER_CONNECTION} if of == "requests" else {}
    profile = KEEPALIVE_PROFILE if of == "requests" else session.experiment.load.profile
    session.serving.serve(profile, _tunables(session, extra))
    session.loading.load_profile(profile, _tunables(session, extra))


def seconds_of(of: CeilingKind, load: float, duration: float, open_cps: float) -> float:
    """Estimated duration of a trial, for the display of the remaining time."""
    if of == "flows":
        return 2 * load / open_cps + SETTLE_S + duration + SPARE_S + 1.0
    return WARM_UP_S + duration + OVERHANG_S + TIME_WAIT_S + 0.7


def step_of(
    of: CeilingKind, load: float, duration: float, repeat: int = 0, twin: bool = False
) -> SearchStep:
    """A step that offers `load`, in the unit of `of`, for `duration` seconds."""
    offered: ConstantLoad | HeldFlows
    if of == "flows":
        offered = HeldFlows(open_flows=round(load))
    else:
        each = REQUESTS_PER_CONNECTION if of == "requests" else 1
        offered = ConstantLoad(offered_cps=load / each, requests_per_connection=each)
    return SearchStep(
        of=of, load=load, duration_s=duration, offered=offered, repeat=repeat, twin=twin
    )


def answer_limit_s(of: CeilingKind, tells_schedule: bool) -> float:
    """Seconds within which the last connection must end after its scheduled start.

    `tells_schedule`: whether the generator reports its schedule. If not, the schedule begins with
    the call that starts the generator, and its start-up time must not count as a loss.
    """
    return ANSWER_LIMIT_S[of] + (0.0 if tells_schedule else START_LAG_S)


def run_trial(session: ProfileSession, trial: Trial) -> None:
    """Offer the load of the trial's `SearchStep`, and fill in the trial with its losses."""
    step = trial.load
    assert isinstance(step, SearchStep)
    if isinstance(step.offered, HeldFlows):
        _hold(session, trial, step.offered, step.duration_s)
    else:
        times = {
            "warm_up_s": WARM_UP_S,
            "sustain_s": step.duration_s,
            "drain_s": answer_limit_s(step.of, session.loading.supports(SCHEDULE_METHOD)),
        }
        offer_load(session, trial, session.experiment.load.model_copy(update=times))
    intended, lost = count(trial, step.of)
    step.loss = Loss(
        intended=intended,
        lost=min(intended, _total(lost)),
        lost_by=lost,
        disturbed=disturbances(Readings(trial), session.experiment.cores.server),
    )
    reset_server(session)


def count(trial: Trial, of: CeilingKind) -> tuple[int, dict[str, int]]:
    """The intended load and the losses by cause, in the unit of `of`."""
    load = trial.traffic
    if isinstance(load, HeldFlows):
        held = int(load.held_flows or 0)
        return load.open_flows, {"not open and served": max(0, load.open_flows - held)}
    assert isinstance(load, ConstantLoad)
    opened = trial.traffic.counter("tcps_connattempt")
    connections = load.schedule.intended if load.schedule else opened
    again = trial.traffic.counter("tcps_rexmttimeo_syn")
    if of == "connections":
        return connections, {
            "not started by the generator": max(0, connections - opened),
            "failed": trial.traffic.failed - trial.traffic.counter("tcps_testdrops"),
            "SYN sent again": again,
            "not answered in time": load.cut_flows or 0,
        }
    each = load.requests_per_connection
    assert trial.response_bytes, "the response was probed when the session was opened"
    answered = trial.traffic.counter("tcps_rcvbyte") // trial.response_bytes
    unsent = max(0, connections - opened) * each
    return connections * each, {
        "not started by the generator": unsent,
        "SYN sent again": again,
        "not answered in time": max(0, connections * each - unsent - answered),
    }


def _total(lost: Mapping[str, int]) -> int:
    """The sum of the causes; connections that may be in the last two causes count once."""
    both = ("SYN sent again", "not answered in time")
    apart = sum(number for cause, number in lost.items() if cause not in both)
    return apart + max(lost.get(cause, 0) for cause in both)


def _hold(session: ProfileSession, trial: Trial, load: HeldFlows, duration: float) -> None:
    """Open the flows, hold them for `duration` seconds, and let them close."""
    number, open_cps = load.open_flows, session.experiment.memory.open_cps
    opening = number / open_cps
    held_s = opening + SETTLE_S + duration + SPARE_S
    refused = session.serving.refusals()
    frames = count_frames(session)
    session.begin_trial()
    hold = {"flows": number, "cps": open_cps, "hold_seconds": held_s}
    session.loading.load_profile(session.experiment.memory.profile, _tunables(session, hold))
    try:
        began = session.read_edge()
        session.loading.start(mult=1)
        end = time.monotonic() + held_s  # of the first flow
        session.progress.pause(opening + SETTLE_S)
        first = session.read_edge()
        trial.phases["opening"] = Window(began, first)
        session.progress.pause(duration)
        trial.phases["hold"] = Window(first, session.read_edge())
        load.held_flows = _served_and_open(session)
        session.look("during")
        load.limits = session.serving.limits(session.experiment.workload.port)
        load.overrun_s = max(0.0, time.monotonic() - end)
        load.cut_flows = end_traffic(session, held_s + patient(CLOSE_PATIENCE_S))
        load.limits.refused = refused_since(session, refused)
        session.read_generator(load)
        load.frames = frames_since(session, frames)
    finally:
        trial.samples = session.trial_samples()


def _served_and_open(session: ProfileSession) -> int:
    """Flows that are open and have received their whole response.

    A flow in the accept queue of a full server is open for the client, but not served.
    """
    client = session.loading.stats()["traffic"]["client"]
    served = int(client.get("tcps_rcvbyte", 0)) // session.response_bytes
    return min(int(client.get("m_est_flows", 0)), served)


def reset_server(session: ProfileSession) -> None:
    """End the connections that a trial left on the kernel's stack, so that trials start equally.

    The generator forgets the flows that it aborts, but nginx would keep its side of them as long
    as idle connections, and run out of files after some trials.
    """
    session.serving.reset()

    def ended() -> bool:
        if not session.serving.open_connections():
            return True
        session.serving.end_connections(session.experiment.workload.port)
        return False

    wait_until(ended, patient(RESET_PATIENCE_S), POLL_S)


def _tunables(session: ProfileSession, extra: Mapping[str, float]) -> dict[str, object]:
    return {**session.tunables(), **extra}
