"""The results of the events of a run, as data and sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from stackcost.analysis import device
from stackcost.analysis.events.mix import MixResult, mix_result
from stackcost.analysis.events.timeline import (
    Series,
    completion_ms,
    core_share,
    group_counter,
    level,
    rate,
)
from stackcost.analysis.head import Head, Part, State
from stackcost.analysis.readings import Readings
from stackcost.contracts.event_settings import EXHAUSTING, FORMAT, Event, EventSettings
from stackcost.contracts.load import DeviceEvent, EventTimes, MixedLoad
from stackcost.contracts.trial import Trial

FULL = 0.99  # of the table
BROKEN = {"cut": "its link to the servers was cut", "killed": "it was removed with all its links"}
SETTLED_S = 1.5  # the established connections have been opened


class EventResult(Part):
    """One event. Times in seconds from the start of the traffic; None: it did not happen.

    `before`, `after`: requests per second answered on established connections before the
    event, and after it (until the flood ended). `lost_established`: connections that were open
    before and given up. `first_failure`, `recovered`: from when on new connections failed, and from
    when on they got through again. `dead_timeout_s`: for how long the device kept a closed or
    unanswered connection in its table. `series`: by name, for plots.
    """

    server: str
    event: Event
    settings: EventSettings
    full_at: float | None
    cut_at: float | None
    dead_timeout_s: int | None = None
    before: float | None
    after: float | None
    lost_established: int
    first_failure: float | None
    recovered: float | None
    tracking: dict[str, int]
    lost: dict[str, int] | None
    cut_flows: int
    sentence: str
    series: dict[str, Series]


class EventSummary(Head):
    """One run of events. `left_out`: sentences about the events that were left out."""

    format: str = FORMAT
    left_out: list[str] = Field(default_factory=list)
    mixes: list[MixResult]
    events: list[EventResult]


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
        _result(trial, load, load.course, cores)
        for trial in kept
        if (load := trial.load_as(DeviceEvent)) and load.course
    ]
    mixes = [mix_result(trial) for trial in kept if trial.load_as(MixedLoad)]
    return EventSummary(
        run=run,
        title=plan["title"],
        state=state,
        machine=dict(machine),
        left_out=plan.get("left_out", []),
        mixes=mixes,
        events=events,
    )


def _result(
    trial: Trial, load: DeviceEvent, course: EventTimes, cores: Sequence[int]
) -> EventResult:
    event, settings = load.event, load.settings
    entries = level(trial, "conntrack.entries")
    full = next((at for at, held in entries if held >= FULL * settings.table), None)
    cut = None if course.cut is None else course.cut - course.began
    turn = cut if event in BROKEN else full
    end = settings.cut_seconds if event in BROKEN else settings.flood_ends
    answered = [
        (at, received / course.answer_bytes)
        for at, received in group_counter(trial, "established", "tcps_rcvbyte")
    ]
    tried, made = (
        group_counter(trial, "probe", name) for name in ("tcps_connattempt", "tcps_connects")
    )
    failures = [
        (at, attempts - connects)
        for (at, attempts), (_, connects) in zip(rate(tried), rate(made), strict=True)
    ]
    first = next((at for at, f in failures if f > settings.few and turn and at >= turn), None)
    lost = device.lost_frames(trial)
    found = EventResult(
        server=trial.server,
        event=event,
        settings=settings,
        full_at=full if event in EXHAUSTING else None,
        cut_at=cut,
        dead_timeout_s=course.dead_timeout_s,
        before=_between(answered, SETTLED_S, turn),
        after=_between(answered, turn, end),
        lost_established=round(
            group_counter(trial, "established", "tcps_drops")[-1][1]
            + group_counter(trial, "established", "tcps_conndrops")[-1][1]
        ),
        first_failure=first,
        recovered=_recovered(failures, first, settings),
        tracking={name: count for name, count in _tracking(trial).items() if count},
        lost=None
        if lost is None
        else {"before": lost.before, "inside": lost.inside, "after": lost.after},
        cut_flows=round(
            sum(
                group_counter(trial, group, "tcps_testdrops")[-1][1]
                for group in settings.tunables(event)
            )
        ),
        series={
            "requests/s on established connections": rate(answered),
            "new connections/s tried": rate(tried),
            "new connections/s made": rate(made),
            "ms that 99 of 100 new connections took at most": completion_ms(trial, "probe", "p99"),
            "tracked connections": entries,
            "share of the device's core in softirq": core_share(trial, cores[0]),
        },
        sentence="",
    )
    return found.model_copy(update={"sentence": _sentence(found)})


def _between(series: Series, start: float | None, end: float | None) -> float | None:
    """Requests per second in a span."""
    if start is None or end is None:
        return None
    inside = [(at, value) for at, value in series if start <= at <= end]
    if len(inside) < 2 or inside[-1][0] == inside[0][0]:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def _recovered(failures: Series, first: float | None, settings: EventSettings) -> float | None:
    """The moment after which two consecutive seconds never have more than a few failures."""
    if first is None:
        return None
    bad = [at for at, failed in failures if failed > settings.few]
    later = [at for at, _ in failures if at > bad[-1]]
    return later[0] if len(later) > 3 else None


def _tracking(trial: Trial) -> dict[str, int]:
    return device.tracking_events(Readings(trial))


def _sentence(found: EventResult) -> str:
    settings = found.settings
    kept = (
        "unknown"
        if found.before is None or found.after is None
        else f"{found.before:,.0f} requests/s before, {found.after:,.0f} after"
    )
    if found.event in BROKEN:
        watched = settings.cut_seconds - (found.cut_at or 0)
        return (
            f"{found.server}: {BROKEN[found.event]} at {found.cut_at:.1f} s. "
            f"Established connections carried {kept}. {found.lost_established:,} of "
            f"{settings.established:,} timed out within {watched:.0f} s. At the end "
            f"{found.cut_flows:,} connections of all kinds were still retransmitting."
        )
    name, table = found.server, f"its table of {settings.table:,} entries"
    if found.event == "half_open":
        name += f" under {settings.flood:,} connections whose SYNs get no answer"
    if found.full_at is None:
        return f"{name}: {table} was never full."
    text = (
        f"{name}: {table} was full at {found.full_at:.1f} s. Established connections carried "
        f"{kept}, and {found.lost_established:,} of {settings.established:,} were lost. "
    )
    if found.dead_timeout_s is not None:
        changed = " (set for this event)" if settings.dead_timeout_s else ""
        text += f"It keeps dead connections for {found.dead_timeout_s} s{changed}. "
    first, ended = found.first_failure, settings.flood_ends
    if first is None:
        return f"{text}New connections did not fail."
    text += f"New connections failed from {first:.1f} s "
    length = settings.length(found.event)
    if found.recovered is None:
        return (
            f"{text}until the end at {length:.0f} s, "
            f"{length - ended:.0f} s after the end of the flood."
        )
    return (
        f"{text}until {found.recovered:.1f} s: it recovered "
        f"{max(0.0, found.recovered - ended):.1f} s after the flood had closed."
    )
