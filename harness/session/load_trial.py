"""One load trial: warm-up, sustain, drain, and nothing read from outside of them."""

import math
import time

from stackcost.collect.latency import latency_between, read_latency
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.harness.experiment.profile_load import LoadPart
from stackcost.harness.session.limits import read_limits
from stackcost.harness.session.path import count_frames, frames_since
from stackcost.harness.session.profile_session import ProfileSession
from stackcost.host.waiting import wait_until

# The offered load goes on for so long after the sustain window, so that its last edge is read
# under load. Reading takes some tens of milliseconds.
OVERHANG_S = 0.5
POLL_S = 0.1
# What the server's cost is made of, and how fast its cores were meanwhile, is read so often, so
# that slices in which nothing slowed them can be told from the others.
OFTEN = ("cpu account", "core speed", "peer time")
SLICE_S = 0.1


def offer_load(session: ProfileSession, trial: Trial, part: LoadPart) -> None:
    """Offer `trial.offered_cps` and fill in phases, samples, the generator's report.

    The loaded profile is that of `part`, whose times hold. The trial is filled in as it goes, so
    that one that is cut short holds what it had. Its load is a `ConstantLoad`.
    """
    load = trial.traffic
    assert isinstance(load, ConstantLoad)
    served = session.server.requests_served()
    refused = session.server.refusals()
    frames = count_frames(session)
    session.begin_trial()
    session.sampler.read_often(OFTEN, SLICE_S)
    whole_s = part.warm_up_s + part.sustain_s + OVERHANG_S
    session.client.start(mult=load.offered_cps, duration=whole_s)
    end = time.monotonic() + whole_s
    try:
        began = session.read_edge()
        session.progress.pause(part.warm_up_s)
        first = session.read_edge()
        trial.phases["warm-up"] = Window(began, first)
        before = read_latency(session.client)
        session.progress.pause(part.sustain_s)
        last = session.read_edge()
        trial.phases["sustain"] = Window(first, last)
        after = read_latency(session.client)
        load.latency = latency_between(before, after)
        session.look("during")
        load.limits = read_limits(session, refused)
        load.cut_flows = end_traffic(session, end + part.drain_s - time.monotonic())
        trial.phases["drain"] = Window(last, session.read_edge())
        session.read_generator(load)
        load.frames = frames_since(session, frames)
        load.server_requests = _difference(session.server.requests_served(), served)
    finally:
        session.sampler.read_often((), math.inf)
        trial.samples = session.trial_samples()


def end_traffic(session: ProfileSession, patience_s: float) -> int:
    """Wait until all flows have ended; those that have not by then are cut, and counted.

    A server offered more than it can do leaves some hanging: a result, no reason to give up.
    """
    if wait_until(lambda: not session.client.is_traffic_active(), patience_s, POLL_S):
        return 0
    open_flows = int(session.client.stats()["traffic"]["client"].get("m_active_flows", 0))
    session.client.stop()
    return open_flows


def prepare_load(session: ProfileSession) -> None:
    """Load the profile on both sides; every level then only starts it at another multiplier."""
    part = session.experiment.load
    tunables = session.tunables()
    session.server.serve(part.profile, tunables)
    session.client.load_profile(part.profile, tunables)


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before
