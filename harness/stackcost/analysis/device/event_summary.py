"""The results of the events of a run, as data and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from stackcost.analysis.device.event_trial import BROKEN, EventTrial, Series
from stackcost.analysis.device.mix import MixSteps, Step, mix_sentence, mix_steps
from stackcost.analysis.figures import registry
from stackcost.analysis.figures.groups import Group
from stackcost.analysis.head import Figures, Flagged, Head, State, SummaryPart, SystemFigure
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import machine_disturbances
from stackcost.contracts.event_settings import Event, EventSettings
from stackcost.contracts.load import DeviceEvent, MixedLoad
from stackcost.contracts.trial import Trial

EVENT = "event"  # the phase of a trial's traffic


class EventResult(Figures):
    """One event. `series`: by name, for plots: (seconds from the start of the traffic, value)."""

    server: str
    event: Event
    settings: EventSettings
    sentence: str
    series: dict[str, Series]


class MixStepResult(Figures):
    """One load of mixed traffic. `half`: it was offered again, at half the highest lossless one."""

    flows_per_second: float
    half: bool = False


class MixResult(Figures):
    """Mixed traffic at rising loads, and then at half of what no application lost."""

    server: str
    steps: list[MixStepResult]
    sentence: str


class EventRow(SummaryPart):
    """A trial of an event or of mixed traffic. `flags`: what the machine did to it."""

    number: int
    server: str
    flags: list[str]


class EventSummary(Head):
    """One run of events. `left_out`: sentences about the events that were left out."""

    format: Literal["stackcost-events-summary/2"] = "stackcost-events-summary/2"
    left_out: list[str]
    trials: list[EventRow]
    mixes: list[MixResult]
    events: list[EventResult]

    @property
    def systems(self) -> list[str]:
        """The names of the devices."""
        names = [mix.server for mix in self.mixes] + [event.server for event in self.events]
        return list(dict.fromkeys(names))

    def system_figures(self) -> Iterator[SystemFigure]:
        """All figures of mixed traffic and of events."""
        for mix in self.mixes:
            for name, spread in mix.figures.items():
                yield SystemFigure(mix.server, name, None, spread, "mixed traffic")
            for step in mix.steps:
                for name, spread in step.figures.items():
                    at, case = step.flows_per_second, "half" if step.half else ""
                    yield SystemFigure(mix.server, name, at, spread, case=case)
        for event in self.events:
            for name, spread in event.figures.items():
                yield SystemFigure(event.server, name, None, spread, "the event", event.event)

    def used_trials(self) -> Iterator[Flagged]:
        """The trials of events and of mixed traffic, with their flags."""
        return (Flagged(row.server, row.flags) for row in self.trials)


def summarise_events(
    trials: Sequence[Trial],
    run: str,
    plan: Mapping[str, Any],
    state: State,
    machine: Mapping[str, Any],
) -> EventSummary:
    """The answer of a run of events; `plan` is the manifest's `experiment`."""
    cores = plan["cores"]["server"]
    kept = [trial for trial in trials if not trial.set_aside]
    events = [
        _event(EventTrial(trial, load, load.timeline), cores)
        for trial in kept
        if (load := trial.load_as(DeviceEvent)) and load.timeline
    ]
    mixes = [_mix(trial.server, mix_steps(trial)) for trial in kept if trial.load_as(MixedLoad)]
    return EventSummary(
        run=run,
        title=plan["title"],
        state=state,
        machine=dict(machine),
        definitions=registry.definitions(registry.EVENTS),
        left_out=plan["left_out"],
        trials=[
            EventRow(
                number=trial.number,
                server=trial.server,
                flags=machine_disturbances(Readings(trial, cores).at(EVENT)),
            )
            for trial in kept
            if EVENT in trial.phases
        ],
        mixes=mixes,
        events=events,
    )


def _event(event: EventTrial, cores: Sequence[int]) -> EventResult:
    found = EventResult(
        server=event.trial.server,
        event=event.load.event,
        settings=event.load.settings,
        figures=registry.computed(registry.OF_EVENTS, event)
        | registry.computed(registry.OF_DEVICES, Group([Readings(event.trial)])),
        series=event.series(cores),
        sentence="",
    )
    return found.model_copy(update={"sentence": _sentence(found)})


def _mix(server: str, found: MixSteps) -> MixResult:
    steps = [_step(step) for step in found.rising]
    if found.half:
        steps.append(_step(found.half).model_copy(update={"half": True}))
    return MixResult(
        server=server,
        steps=steps,
        figures=registry.computed(registry.OF_MIXES, found),
        sentence=mix_sentence(server, found),
    )


def _step(step: Step) -> MixStepResult:
    figures = registry.computed(registry.OF_MIX_STEPS, step)
    return MixStepResult(flows_per_second=step.flows_per_second, figures=figures)


def _sentence(found: EventResult) -> str:
    settings, at = found.settings, found["event.at"].median
    before, after = found["event.before"].median, found["event.after"].median
    known = before is not None and after is not None
    kept = f"{before:,.0f} requests/s before, {after:,.0f} after" if known else "unknown"
    lost = f"{found['event.lost_established'].median:,.0f} of {settings.established:,}"
    if found.event in BROKEN:
        watched = settings.cut_seconds - (at or 0)
        return (
            f"{found.server}: {BROKEN[found.event]} at {at or 0:.1f} s. "
            f"Established connections carried {kept}. {lost} timed out within {watched:.0f} s. "
            f"At the end {found['event.not_ended'].median:,.0f} connections of all kinds were "
            "still retransmitting."
        )
    name, table = found.server, f"its table of {settings.table:,} entries"
    if found.event == "half_open":
        name += f" under {settings.flood:,} connections whose SYNs get no answer"
    if at is None:
        return f"{name}: {table} was never full."
    text = (
        f"{name}: {table} was full at {at:.1f} s. Established connections carried "
        f"{kept}, and {lost} were lost. "
    )
    if (kept_s := found["event.dead_timeout"].median) is not None:
        changed = " (set for this event)" if settings.dead_timeout_s else ""
        text += f"It keeps dead connections for {kept_s:.0f} s{changed}. "
    first, ended = found["event.first_failure"].median, settings.flood_ends
    if first is None:
        return f"{text}New connections did not fail."
    text += f"New connections failed from {first:.1f} s "
    length = settings.length(found.event)
    recovered = found["event.recovered"].median
    if recovered is None:
        return (
            f"{text}until the end at {length:.0f} s, "
            f"{length - ended:.0f} s after the end of the flood."
        )
    return (
        f"{text}until {recovered:.1f} s: it recovered "
        f"{max(0.0, recovered - ended):.1f} s after the flood had closed."
    )
