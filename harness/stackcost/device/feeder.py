"""Generates the turns for the events of a device; each event is a trial on a new test bed."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from stackcost.campaign.record import new_campaign
from stackcost.campaign.turn import Feed, PlannedTrials, Purpose, Turn
from stackcost.contracts.event_settings import EXHAUSTING, FORMAT, Event, EventSettings
from stackcost.contracts.load import DeviceEvent, MixedLoad
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.experiment.schema import Experiment
from stackcost.loads.event import Events
from stackcost.loads.mix import Mix
from stackcost.session.profile_session import SETUP_S, ProfileSession, open_profile_session
from stackcost.store import RunFolder
from stackcost.systems.registry import server_class, server_name


def run_events(
    experiment: Experiment,
    events: Sequence[Event],
    settings: EventSettings,
    results: Path,
    command: list[str],
    console: Console,
    left_out: Sequence[str] = (),
) -> RunFolder:
    """Test each of `events` on the experiment's device; returns the run's folder.

    To exhaust its table, the table is limited to `settings.table` entries. `left_out`: sentences
    for the report about events that are left out. For other ends see `new_campaign`.
    """
    (entry,) = experiment.servers
    about = experiment.model_dump(mode="json") | {
        "title": f"State and links of {server_name(entry)}",
        "events": settings.model_dump(),
        "events_format": FORMAT,
        "left_out": list(left_out),
    }
    here = experiment.uses_this_machine
    with new_campaign(
        results,
        "events",
        command,
        console,
        here=here,
        kind="events",
        experiment=about,
        systems=[System.of(server_name(entry))],
    ) as campaign:
        campaign.expect([SETUP_S + settings.length(event) for event in events])
        campaign.run(turns_of(experiment, events, settings))
    return campaign.folder


def turns_of(
    experiment: Experiment, events: Sequence[Event], settings: EventSettings
) -> Feed[None]:
    """A turn for each event, in order."""
    (entry,) = experiment.servers
    name = server_name(entry)
    for event in events:
        table = settings.of_exhausted() if event in EXHAUSTING else {}
        yield Turn(
            system=name,
            bed=event,
            kind=server_class(entry),
            experiment=experiment.model_copy(
                update={"dut": experiment.dut.model_copy(update=table)}
            ),
            where=f"{event} of {name}",
            logs=event,
            steps=partial(_steps, name, event, settings),
            open=open_profile_session,
        )


def _steps(
    name: str, event: Event, settings: EventSettings, session: ProfileSession
) -> PlannedTrials[None]:
    length, purpose = session.response_bytes, Purpose()
    if event == "mix":
        mix = MixedLoad()
        trial = Trial(name, 0, 1, mix, length)
        yield Mix(settings).planned(session, trial, mix, purpose)
    else:
        load = DeviceEvent(event=event, settings=settings)
        trial = Trial(name, 0, 1, load, length)
        yield Events().planned(session, trial, load, purpose)
