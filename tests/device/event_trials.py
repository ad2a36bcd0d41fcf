"""Trials of events and of mixed traffic whose timeline is known."""

from collections.abc import Mapping

from stackcost.contracts.event_settings import EventSettings
from stackcost.contracts.load import DeviceEvent, EventTimeline, MixedLoad, MixStep
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window

BEGAN = 1_000.0
SETTINGS = EventSettings(table=1_000, flood=1_200, flood_cps=300, hold_seconds=2, seconds=30)
PLAN = {"title": "events", "cores": {"load": [0], "server": [1]}, "left_out": []}


def group(at: float, name: str, counter: str, value: float) -> Sample:
    labels = {"group": name, "side": "client", "counter": counter}
    return Sample(BEGAN + at, "trex.group_counter", labels, value, "1", Kind.COUNTER, "test")


def event_trial(full_from: float, through_again: float) -> Trial:
    """Established connections answer 100 requests/s; of 50 new ones a second all, or none."""
    load = DeviceEvent(
        event="exhaustion",
        settings=SETTINGS,
        timeline=EventTimeline(BEGAN, answer_bytes=100, dead_timeout_s=5),
    )
    trial = Trial("dut/test", 1, 1, load, phases={"event": Window(BEGAN, BEGAN + 30)})
    made = 0.0
    for step in range(1, 60):
        at = step / 2
        made += 0 if full_from < at <= through_again else 25
        trial.samples += [
            group(at, "established", "tcps_rcvbyte", 100 * 100 * at),
            group(at, "probe", "tcps_connattempt", 50 * at),
            group(at, "probe", "tcps_connects", made),
            Sample(
                BEGAN + at,
                "conntrack.entries",
                {"namespace": "dut"},
                1_000 if full_from <= at <= through_again else 300,
                "1",
                Kind.GAUGE,
                "test",
            ),
        ]
    return trial


def mixed(whole: Mapping[float, float]) -> Trial:
    """Mixed traffic of one application for 10 s at each load: its share that is whole there."""
    load = MixedLoad()
    trial = Trial("dut/test", 1, 1, load)
    at = tried = again = 0.0
    for flows_per_second, share in whole.items():
        since = BEGAN + at
        trial.samples += _counted(at, tried, again)
        at, tried = at + 10, tried + 10 * flows_per_second
        again += 10 * flows_per_second * (1 - share)
        trial.samples += _counted(at, tried, again)
        load.steps.append(MixStep(flows_per_second, Window(since, BEGAN + at)))
        at += 1
    trial.phases["event"] = Window(BEGAN, BEGAN + at)
    return trial


def _counted(at: float, tried: float, again: float) -> list[Sample]:
    return [
        group(at, "web", "tcps_connattempt", tried),
        group(at, "web", "tcps_rexmttimeo_syn", again),
    ]
