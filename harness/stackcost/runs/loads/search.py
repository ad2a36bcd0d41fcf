"""One trial of a search: it offers a load and counts what is lost.

docs/metrics.md defines loss for each of the three ceilings.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stackcost.analysis.ceiling.settings import UNITS
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import disturbances
from stackcost.collect.engine import SCHEDULE_METHOD
from stackcost.contracts.load import CeilingKind, ConstantLoad, HeldFlows, Loss, SearchStep
from stackcost.contracts.trial import Trial
from stackcost.files import PROFILES
from stackcost.host.timeouts import scaled_timeout
from stackcost.runs.loads.constant import OVERHANG_S, offer_load
from stackcost.runs.loads.held import SPARE_S, Holding, hold_flows
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.reading import reset_server
from stackcost.session.profile_session import ProfileSession

KEEPALIVE_PROFILE = PROFILES / "http_keepalive.py"
REQUESTS_PER_CONNECTION = 20
TIME_WAIT_S = 0.5  # the client's: a connection counts as ended only after it
# Time after the end of the load; what is not answered by then counts as lost.
ANSWER_LIMIT_S = {"connections": TIME_WAIT_S + 0.02, "requests": 0.05}
START_LAG_S = 0.3  # TRex needs some 0.1 s from the call that starts it to its first connection
WARM_UP_S = 0.6  # longer than TIME_WAIT, so that as many connections end as begin
SETTLE_S = 0.5  # between the last flow's opening and the hold
CLOSE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Steps(LoadKind[ProfileSession, SearchStep]):
    """Steps of a search for the ceiling `of` something; flows are opened at `open_cps`."""

    of: CeilingKind
    open_cps: float = 1.0

    def step(self, load: float, duration: float, reference: bool = False) -> SearchStep:
        """A step that offers `load`, in the unit of `of`, for `duration` seconds."""
        each = REQUESTS_PER_CONNECTION if self.of == "requests" else 1
        offered: ConstantLoad | HeldFlows = HeldFlows(open_flows=round(load))
        if self.of != "flows":
            offered = ConstantLoad(offered_cps=load / each, requests_per_connection=each)
        return SearchStep(
            of=self.of, load=load, duration_s=duration, offered=offered, reference=reference
        )

    def trial_s(self, load: float, duration: float) -> float:
        """About how long a step takes, in seconds."""
        if self.of == "flows":
            return 2 * load / self.open_cps + SETTLE_S + duration + SPARE_S + 1.0
        return WARM_UP_S + duration + OVERHANG_S + TIME_WAIT_S + 0.7

    def seconds(self, load: SearchStep) -> float:
        """About how long a step takes."""
        return self.trial_s(load.load, load.duration_s)

    def words(self, load: SearchStep) -> str:
        """What it offers."""
        return f"{load.load:,.0f} {UNITS[self.of]} for {load.duration_s:.3g} s"

    def prepare(self, session: ProfileSession) -> None:
        """Load the profile on both sides; flows use a new profile for each trial."""
        tunables = session.tunables()
        if self.of == "flows":
            session.serving.serve(session.experiment.memory.profile, tunables)
            return
        profile = session.experiment.load.profile
        if self.of == "requests":
            profile = KEEPALIVE_PROFILE
            tunables |= {"requests": REQUESTS_PER_CONNECTION}
        session.serving.serve(profile, tunables)
        session.load_profile(profile, tunables)

    def offer(self, session: ProfileSession, trial: Trial) -> None:
        """Offer what the trial's `SearchStep` says, and count what was lost of it."""
        step = trial.load_of(SearchStep)
        if self.of == "flows":
            hold_flows(session, trial, _holding(step))
        else:
            times = {
                "warm_up_s": WARM_UP_S,
                "sustain_s": step.duration_s,
                "drain_s": answer_limit_s(self.of, session.generator.supports(SCHEDULE_METHOD)),
            }
            offer_load(session, trial, session.experiment.load.model_copy(update=times))
        intended, lost = count(trial, self.of)
        step.loss = Loss(
            intended=intended,
            lost=min(intended, _total(lost)),
            lost_by=lost,
            disturbed=disturbances(Readings(trial, session.experiment.cores.server)),
        )
        reset_server(session)


def _holding(step: SearchStep) -> Holding:
    """Read at both edges of the hold; those flows count that were served."""
    return Holding(
        settle_s=SETTLE_S,
        hold_s=step.duration_s,
        close_s=scaled_timeout(CLOSE_TIMEOUT_S),
        readings=2,
        all_open=False,
    )


def answer_limit_s(of: CeilingKind, tells_schedule: bool) -> float:
    """Seconds within which the last connection must end after its scheduled start.

    `tells_schedule`: whether the generator reports its schedule. If not, the schedule begins with
    the call that starts the generator, and its start-up time must not count as a loss.
    """
    return ANSWER_LIMIT_S[of] + (0.0 if tells_schedule else START_LAG_S)


def count(trial: Trial, of: CeilingKind) -> tuple[int, dict[str, int]]:
    """The intended load and the losses by cause, in the unit of `of`."""
    if of == "flows":
        wanted, held = trial.traffic.open_flows or 0, int(trial.traffic.held_flows or 0)
        return wanted, {"not open and served": max(0, wanted - held)}
    load = trial.traffic
    opened, again = load.counter("tcps_connattempt"), load.counter("tcps_rexmttimeo_syn")
    connections = load.schedule.intended if load.schedule else opened
    if of == "connections":
        return connections, {
            "not started by the generator": max(0, connections - opened),
            "failed": load.failed - load.counter("tcps_testdrops"),
            "SYN sent again": again,
            "not answered in time": load.cut_flows or 0,
        }
    each = REQUESTS_PER_CONNECTION
    assert trial.response_bytes, "the response was probed when the session was opened"
    answered = load.received_bytes // trial.response_bytes
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
