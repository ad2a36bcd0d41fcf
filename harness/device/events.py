"""Trials in which something happens to the device, watched over time."""

import time

from harness.collect.groups import Groups
from harness.device.settings import PROFILE, Event, EventSettings
from harness.experiment.load_trial import end_traffic
from harness.experiment.path import count_frames, frames_since
from harness.experiment.session import Session
from harness.model import Sample, Trial, Window
from harness.testbed.namespace import execute

EVERY_S = 0.5
LAST_FLOWS_S = 5.0  # for flows to end by themselves after the traffic


def run_event(session: Session, trial: Trial, event: Event, settings: EventSettings) -> None:
    """Let `event` happen under traffic; fills in phases, samples and what the generator counted.

    `trial.load["event"]` has the times of what was done, seconds of CLOCK_MONOTONIC.
    """
    client, tunables = session.client, settings.tunables(event)
    groups = Groups(client, *tunables)
    seconds = settings.length(event)
    for name, arguments in tunables.items():
        client.load_profile(PROFILE, arguments, name)
    frames = count_frames(session)
    session.begin_trial()
    of_groups: list[Sample] = []
    for name in tunables:
        client.start(mult=1, duration=seconds, profile=name)
    began = time.monotonic()
    times = {"began": began}
    trial.load["event"] = {"name": event, "settings": settings.model_dump(), "times": times}
    try:
        while time.monotonic() < began + seconds:
            if event == "cut" and "cut" not in times and time.monotonic() > began + settings.cut_at:
                times["cut"] = time.monotonic()
                _cut(session)
            session.read_edge()
            of_groups += groups.read()
            session.progress.pause(EVERY_S)
        trial.load["cut_flows"] = end_traffic(session, LAST_FLOWS_S)
        of_groups += groups.read()
        trial.phases["event"] = Window(began, session.read_edge())
        trial.load["frames"] = None if event == "cut" else frames_since(session, frames)
    finally:
        trial.samples = session.trial_samples() + of_groups


def _cut(session: Session) -> None:
    """The device's link to the servers goes down; the threads that polled it end with it."""
    namespace, interface = session.bed.wiring.tested[-1]
    session.processes = {}
    execute(namespace, ["ip", "link", "set", interface, "down"])
