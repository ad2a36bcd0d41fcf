"""New connections at a constant rate: warm-up, sustain and drain; each is read at its edges."""

import math
import time

from stackcost.collect.latency import latency_between, read_latency
from stackcost.contracts.load import ConstantLoad, rate_words
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.experiment.matrix import Variant
from stackcost.experiment.profile_load import LoadSection
from stackcost.experiment.schema import Experiment
from stackcost.host.timeouts import scaled_timeout
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.reading import reading
from stackcost.session.profile_session import ProfileSession

# The load continues for this long after the sustain window, so that the end of the window is read
# under load. Reading takes some tens of milliseconds, and seconds on a slow host.
OVERHANG_S = 0.5
EXTRA_S = 1.0  # of a trial, measured on a machine with two cores; for the remaining time only
SLICE_S = 0.1  # between readings of what is read often


class Constant(LoadKind[ProfileSession, ConstantLoad]):
    """The section `load` of an experiment: each of its rates, in every round."""

    def __init__(self, experiment: Experiment):
        self._part = experiment.load

    def loads(self, variant: Variant) -> list[ConstantLoad]:
        """Each rate once."""
        return [ConstantLoad(offered_cps=rate) for rate in self._part.offered_cps]

    def seconds(self, load: ConstantLoad) -> float:
        """The drain ends early as a rule."""
        return load_trial_s(self._part)

    def words(self, load: ConstantLoad) -> str:
        """The rate."""
        return f"{rate_words(load.rate)} connections/s{over_tls(self._part)}"

    def prepare(self, session: ProfileSession) -> None:
        """Load the profile on both sides; each trial starts it with another multiplier."""
        prepare_load(session)

    def offer(self, session: ProfileSession, trial: Trial) -> None:
        """With the times of the experiment."""
        offer_load(session, trial, self._part)


def offer_load(session: ProfileSession, trial: Trial, part: LoadSection) -> None:
    """Offer `trial.offered_cps` and fill in phases, samples, the generator's report.

    `part` gives the loaded profile and the times. The trial is filled in while it runs, so that a
    trial that is cut short contains its data so far. Its load is a `ConstantLoad`.
    """
    load = trial.load_of(ConstantLoad)
    served = session.serving.requests_served()
    whole_s = part.warm_up_s + part.sustain_s + scaled_timeout(OVERHANG_S)
    with reading(session, trial, load):
        session.sampler.read_often(SLICE_S)
        session.generator.start(mult=load.offered_cps, duration=whole_s)
        end = time.monotonic() + whole_s
        try:
            began = session.read_edge()
            session.warm_up(began + part.warm_up_s)
            first = session.read_edge()
            trial.phases["warm-up"] = Window(began, first)
            begun, before = _begun(session), read_latency(session.generator)
            time.sleep(max(0.0, first + part.sustain_s - time.monotonic()))
            last = session.read_edge()
            trial.phases["sustain"] = Window(first, last)
            load.begun, after = _begun(session) - begun, read_latency(session.generator)
            load.latency = latency_between(before, after)
            session.check_stack("during")
            load.limits = session.serving.limits(session.experiment.workload.port)
            load.overrun_s = max(0.0, time.monotonic() - end)
            load.cut_flows = session.end_traffic(end + part.drain_s - time.monotonic())
            trial.phases["drain"] = Window(last, session.read_edge())
            load.seconds = session.latency.take(trial.phases["sustain"])
        finally:
            session.sampler.read_often(math.inf)
    load.server_requests = _difference(session.serving.requests_served(), served)
    load.statuses = session.serving.sampled_statuses()


def _begun(session: ProfileSession) -> int:
    """Connections that began so far. The collectors at an edge may take longer than a busy machine
    has between two connections, so this is read right beside the times of connections.
    """
    return int(session.generator.stats()["traffic"]["client"].get("tcps_connattempt", 0))


def load_trial_s(part: LoadSection) -> float:
    """About how long a trial takes whose windows are those of the section `load`."""
    return part.warm_up_s + part.sustain_s + OVERHANG_S + EXTRA_S


def prepare_load(session: ProfileSession) -> None:
    """Load the profile on both sides; each load then starts it with another multiplier."""
    part = session.experiment.load
    tunables = session.tunables()
    session.serving.serve(part.profile, tunables)
    session.load_profile(part.profile, tunables)


def over_tls(part: LoadSection) -> str:
    """Behind the words of a load: whether it goes over TLS."""
    return part.tls.words if part.tls else ""


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before
