"""What the summary of an event says, from trials whose course is known."""

from pathlib import Path

import pytest

from stackcost.analysis.events.summary import EventResult, summarise_events
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.event_settings import EventSettings
from stackcost.contracts.load import DeviceEvent, EventTimes
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.device.standard import events_for, experiment_of
from stackcost.report.device import events_of, sentences
from stackcost.store import Manifest, RunFolder

BEGAN = 1_000.0
SETTINGS = EventSettings(table=1_000, flood=1_200, flood_cps=300, hold_seconds=2, seconds=30)
PLAN = {"title": "events", "cores": {"load": [0], "server": [1]}}


def group(at: float, name: str, counter: str, value: float) -> Sample:
    labels = {"group": name, "side": "client", "counter": counter}
    return Sample(BEGAN + at, "trex.group_counter", labels, value, "1", Kind.COUNTER, "test")


def course(full_from: float, through_again: float) -> Trial:
    """Established connections answer 100 requests/s; of 50 new ones a second all, or none."""
    load = DeviceEvent(
        event="exhaustion",
        settings=SETTINGS,
        course=EventTimes(BEGAN, answer_bytes=100, dead_timeout_s=5),
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


def result(trial: Trial) -> EventResult:
    (found,) = summarise_events([trial], "test", PLAN, "complete", {}).events
    return found


def test_fullness_failure_and_recovery_are_when_they_were() -> None:
    found = result(course(full_from=4.0, through_again=11.0))
    assert found.full_at == 4.0
    assert found.first_failure == 4.5
    assert found.recovered == 11.5
    assert found.before == found.after == 100
    assert "recovered 5.5 s after the flood had closed" in found.sentence


def test_a_device_that_does_not_recover_is_said_not_to() -> None:
    found = result(course(full_from=4.0, through_again=99.0))
    assert found.recovered is None
    assert "until the end at 30 s, 24 s after the end of the flood" in found.sentence


def test_a_table_that_never_fills_is_no_exhaustion() -> None:
    found = result(course(full_from=99.0, through_again=99.0))
    assert found.full_at is None and found.first_failure is None
    assert found.sentence == "dut/test: its table of 1,000 entries was never full."


def test_a_run_that_was_stored_in_another_form_is_distinguished(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "events")
    manifest = Manifest(
        run=run.name,
        command=["stackcost", "dut", "bridge"],
        experiment=PLAN | {"events": SETTINGS.model_dump()},
        machine={},
    )
    run.write_manifest(manifest)
    with pytest.raises(StackcostError, match=r"another version.*again, run: stackcost dut bridge"):
        events_of(run)


def test_nginx_beside_the_generator_on_one_core_is_not_exhausted() -> None:
    of_nginx = experiment_of("nftables", True, {"server": "nginx"})
    events, left_out = events_for(of_nginx, tracks=True)
    assert events == ["cut", "killed"] and len(left_out) == 2
    assert "nginx shares core 0 with the generator" in left_out[0]
    cores = of_nginx.cores.model_copy(update={"load": [0, 2]})
    events, _ = events_for(of_nginx.model_copy(update={"cores": cores}), tracks=True)
    assert events == ["exhaustion", "half_open", "cut", "killed"]
    summary = summarise_events([], "test", PLAN | {"left_out": left_out}, "complete", {})
    assert sentences(summary) == left_out
