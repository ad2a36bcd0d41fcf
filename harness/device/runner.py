"""Runs the events of a device's standard set; each is a trial on a bed of its own."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from harness.bed.local import check_root
from harness.bed.lock import RunLock
from harness.bed.signals import ending_signals_raise
from harness.campaign.attempts import storing
from harness.campaign.recorded import recorded
from harness.device.events import run_event
from harness.device.mix_load import run_mix
from harness.experiment.schema import Experiment
from harness.session.progress import Progress
from harness.session.session import open_session
from harness.systems.registry import server_class, server_name
from stackcost.collect.machine import describe_machine
from stackcost.contracts.event_settings import EXHAUSTING, FORMAT, Event, EventSettings
from stackcost.contracts.load import DeviceEvent, MixedLoad
from stackcost.contracts.trial import Trial
from stackcost.store import Manifest, RunFolder

SETUP_S = 7.0


def run_events(
    experiment: Experiment,
    events: Sequence[Event],
    settings: EventSettings,
    results: Path,
    command: list[str],
    console: Console,
    left_out: Sequence[str] = (),
) -> RunFolder:
    """Let each of `events` happen to the experiment's one device; returns the run's folder.

    For an exhaustion its table is limited to `settings.table` entries. `left_out`: what the report
    is to say of events that are not tried.
    """
    check_root()
    (entry,) = experiment.servers
    name = server_name(entry)
    with RunLock(), ending_signals_raise():
        run = RunFolder.create(results, "events")
        manifest = Manifest(
            run=run.name,
            command=command,
            experiment=experiment.model_dump(mode="json")
            | {
                "title": f"State and links of {name}",
                "events": settings.model_dump(),
                "events_format": FORMAT,
                "left_out": list(left_out),
            },
            machine=describe_machine(),
        )
        whole = sum(SETUP_S + settings.length(event) for event in events)
        with (
            recorded(run, manifest, "see them with: stackcost report"),
            Progress(whole, console) as progress,
        ):
            for number, event in enumerate(events, 1):
                dut = experiment.dut
                if event in EXHAUSTING:
                    dut = dut.model_copy(update=settings.of_exhausted())
                with open_session(
                    server_class(entry),
                    experiment.model_copy(update={"dut": dut}),
                    run.path / "logs" / event,
                    f"{event} of {name}",
                    progress,
                ) as session:
                    described = session.describe()
                    manifest.test_bed[event] = described["test_bed"]
                    manifest.servers[name] = described["server"]
                    run.write_manifest(manifest)
                    session.say("traffic")
                    load = load_of(event, settings)
                    trial = Trial(name, number, 1, load, session.response_bytes)
                    with storing(run, session, trial):
                        if isinstance(load, MixedLoad):
                            run_mix(session, trial, settings)
                        else:
                            run_event(session, trial)
                progress.reach(sum(SETUP_S + settings.length(each) for each in events[:number]))
    return run


def load_of(event: Event, settings: EventSettings) -> MixedLoad | DeviceEvent:
    """What a trial of this event puts on the device."""
    return MixedLoad() if event == "mix" else DeviceEvent(event=event, settings=settings)
