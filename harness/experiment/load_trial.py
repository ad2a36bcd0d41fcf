"""One load trial: warm-up, sustain, drain, and nothing read from outside of them."""

import time

from harness.analysis.checks import flags
from harness.analysis.readings import Readings
from harness.collect.latency import latency_between, read_latency
from harness.experiment.session import Session
from harness.experiment.systems import tunables_of
from harness.model import Trial, Window

# The offered load goes on for so long after the sustain window, so that its last edge is read
# under load. Reading takes some tens of milliseconds.
OVERHANG_S = 0.5
POLL_S = 0.1


def run_load_trial(session: Session, trial: Trial) -> None:
    """Offer `trial.offered_cps` and fill in phases, samples, the generator's report and flags.

    The trial is filled in as it goes, so that one that is cut short holds what it had.
    """
    part = session.experiment.load
    served = session.system.server.requests_served()
    session.begin_trial()
    session.client.start(
        mult=trial.offered_cps, duration=part.warm_up_s + part.sustain_s + OVERHANG_S
    )
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
        trial.load["latency"] = latency_between(before, after)
        trial.load["cut_flows"] = end_traffic(session, OVERHANG_S + part.drain_s)
        trial.phases["drain"] = Window(last, session.read_edge())
        trial.load |= session.generator_report()
        trial.load["server_requests"] = _difference(session.system.server.requests_served(), served)
    finally:
        trial.samples = session.trial_samples()
    trial.flags = flags(Readings(trial), session.experiment.cores.server)


def end_traffic(session: Session, patience_s: float) -> int:
    """Wait until all flows have ended; those that have not by then are cut, and counted.

    A server offered more than it can do leaves some hanging: a result, no reason to give up.
    """
    deadline = time.monotonic() + patience_s
    while session.client.is_traffic_active():
        if time.monotonic() > deadline:
            left = int(session.client.stats()["traffic"]["client"].get("m_active_flows", 0))
            session.client.stop()
            return left
        time.sleep(POLL_S)
    return 0


def prepare_load(session: Session) -> None:
    """Load the profile on both sides; every level then only starts it at another multiplier."""
    part = session.experiment.load
    tunables = tunables_of(session.experiment.workload, session.response_bytes)
    session.system.serve(part.profile, tunables)
    session.client.load_profile(part.profile, tunables)


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before
