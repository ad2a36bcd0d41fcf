"""Trials with an event at the device, such as a full table or a cut link, measured over time."""

import time
from collections.abc import Callable, Sequence

from stackcost.collect.groups import Groups
from stackcost.collect.latency import Latency
from stackcost.contracts.event_settings import EXHAUSTING, EventName, EventSettings
from stackcost.contracts.load import DeviceEvent, EventTimeline
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.files import PROFILES
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.reading import reading_server
from stackcost.session.path import count_frames, frames_since
from stackcost.session.profile_session import ProfileSession
from stackcost.session.server_settings import prefixes_of
from stackcost.sides.server import RunningServer

PROFILE = PROFILES / "state_exhaustion.py"
EVERY_S = 0.5
STEADY_S = 10.0
MESSAGE_BYTES = 100  # of the profile's own answers
LAST_FLOWS_S = 5.0  # for flows to end by themselves after the traffic


class Events(LoadKind[ProfileSession, DeviceEvent]):
    """Events of a device, each on a test bed of its own."""

    def seconds(self, load: DeviceEvent) -> float:
        """Seconds that the event's settings say."""
        return load.settings.length(load.event)

    def words(self, load: DeviceEvent) -> str:
        """The turn's name has the event."""
        return "traffic"

    def offer(self, session: ProfileSession, trial: Trial) -> None:
        """Trigger the event of the trial's `DeviceEvent` under traffic, and fill in the trial.

        An exhaustion trial ends when new connections have succeeded for a while after the flood.
        """
        load = trial.load_of(DeviceEvent)
        event, settings = load.event, load.settings
        client, tunables = session.generator, settings.tunables(event)
        if session.serving.wiring.server:
            tunables = {name: arguments | _http(session) for name, arguments in tunables.items()}
        prefixes = prefixes_of(session.serving.ip_version)
        groups, latency = Groups(client, *tunables), Latency(client, "probe")
        seconds = settings.length(event)
        for name, arguments in tunables.items():
            client.load_profile(PROFILE, prefixes | arguments, name)
        frames = count_frames(session)
        of_groups: list[Sample] = []
        unanswered: list[tuple[float, float]] = []
        try:
            with reading_server(session, trial, load):
                for name in tunables:
                    client.start(mult=1, duration=seconds, profile=name)
                began = time.monotonic()
                load.timeline = timeline = EventTimeline(
                    began,
                    answer_bytes=tunables["established"].get("response_bytes", MESSAGE_BYTES),
                    dead_timeout_s=session.serving.dead_timeout_s(),
                )
                while time.monotonic() < began + seconds:
                    due = time.monotonic() > began + settings.cut_at
                    if event in BREAKS and due and timeline.cut is None:
                        timeline.cut = time.monotonic()
                        BREAKS[event](session.serving)
                    now, read = session.read_edge(), groups.read()
                    of_groups += read + latency.read()
                    unanswered.append((now - began, _unanswered(read)))
                    if event in EXHAUSTING and works_again(unanswered, settings):
                        client.stop()
                        break
                    time.sleep(EVERY_S)
                if event not in BREAKS:
                    load.limits = session.serving.limits(session.experiment.workload.port)
                load.cut_flows = session.end_traffic(LAST_FLOWS_S)
                of_groups += groups.read()
                trial.phases["event"] = Window(began, session.read_edge())
                load.frames = None if event in BREAKS else frames_since(session, frames)
        finally:
            trial.samples += of_groups


def _unanswered(read: Sequence[Sample]) -> float:
    """Number of new connections so far that were not established."""
    counted = {
        sample.labels["counter"]: sample.value or 0.0
        for sample in read
        if sample.labels["group"] == "probe" and sample.labels["side"] == "client"
    }
    return counted.get("tcps_connattempt", 0.0) - counted.get("tcps_connects", 0.0)


def works_again(unanswered: Sequence[tuple[float, float]], settings: EventSettings) -> bool:
    """Whether almost all new connections were answered for `STEADY_S` after the flood."""
    now = unanswered[-1][0]
    recent = [count for at, count in unanswered if at > now - STEADY_S]
    over = now - STEADY_S > settings.flood_ends
    return over and max(recent) - min(recent) <= settings.few


def _http(session: ProfileSession) -> dict[str, int]:
    """Arguments of the profile if a real server answers."""
    port = session.experiment.workload.port
    return {"port": port, "response_bytes": session.response_bytes}


BREAKS: dict[EventName, Callable[[RunningServer], None]] = {
    "cut": lambda serving: serving.cut_link(),
    "killed": lambda serving: serving.remove_device(),
}
