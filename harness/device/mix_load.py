"""Offers mixed traffic in rising steps."""

import time
from pathlib import Path

from harness.session.load_trial import end_traffic
from harness.session.path import count_frames, frames_since
from harness.session.session import Session
from harness.session.task import prefixes_of
from stackcost.analysis.events.mix import half_of, steps_of
from stackcost.analysis.events.settings import LAST_FLOWS_S, EventSettings
from stackcost.collect.groups import Groups
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial, Window
from stackcost.trex.client import ONLY

PROFILE = Path(__file__).resolve().parents[2] / "trex_profiles" / "enterprise_mix.py"
SETTLE_S = 0.5  # from a change of the load to its step
SPARE_S = 3.0  # the traffic goes on after the last step, so that its end is read under load


def run_mix(session: Session, trial: Trial, settings: EventSettings) -> None:
    """Offer the mix in rising steps; then, the table emptied, half of the highest whole load.

    `trial.load["mix"]` has the loads and when each began and ended.
    """
    client, groups, length = session.client, Groups(session.client, ONLY), settings.mix_step_s
    client.load_profile(PROFILE, prefixes_of(session.server.ip_version) | {"cps": 1})
    frames = count_frames(session)
    session.begin_trial()
    samples: list[Sample] = []
    spans: list[tuple[float, float]] = []
    loads = list(settings.mix_loads)
    trial.load["mix"] = {"loads": loads, "spans": spans}

    def edge() -> float:
        session.read_edge()
        now = time.monotonic()
        samples.extend(groups.read())
        return now

    began = time.monotonic()
    try:
        client.start(mult=loads[0], duration=2 * length * len(loads) + SPARE_S)
        for number, load in enumerate(settings.mix_loads):
            if number:
                client.update(load)
            session.progress.pause(SETTLE_S)
            since = edge()
            session.progress.pause(length)
            spans.append((since, edge()))
        client.stop()
        session.server.reset()  # an overload may have filled its table for minutes
        loads.append(half_of(steps_of(trial.load["mix"], samples)))
        client.start(mult=loads[-1], duration=length + SPARE_S)
        session.progress.pause(SETTLE_S)
        since = edge()
        session.progress.pause(length)
        spans.append((since, edge()))
        trial.load["cut_flows"] = end_traffic(session, SPARE_S + LAST_FLOWS_S)
        trial.phases["event"] = Window(began, session.read_edge())
        trial.load |= session.generator_report()
        trial.load["frames"] = frames_since(session, frames)
    finally:
        trial.samples = session.trial_samples() + samples
