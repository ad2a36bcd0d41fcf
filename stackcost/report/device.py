"""The answer about a device under test: sentences, its cost table, plots over time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from stackcost.analysis.checks import Check
from stackcost.analysis.events.mix import MixResult
from stackcost.analysis.events.summary import EventResult, EventSummary, summarise_events
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.event_settings import FORMAT
from stackcost.report.ceiling import sentences_of
from stackcost.report.opened import OpenedRuns
from stackcost.report.stored import describe_setting, state_of, trials_of
from stackcost.report.tables import TextTable
from stackcost.report.words import number
from stackcost.store import RunFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE_CACHE = "nf_conntrack"  # slab cache of the entries of connection tracking
WIDTH, PANEL_HEIGHT = 8.0, 1.7  # inches


def events_of(run: RunFolder) -> EventSummary:
    """A stored run's summary, computed from its trials.

    StackcostError when it holds none, or was stored in another form.
    """
    manifest = run.manifest()
    if manifest.experiment.get("events_format") != FORMAT:
        raise StackcostError(
            f"{run.path} was stored by another version, in another form than {FORMAT}",
            f"measure it again: {' '.join(['stackcost', *manifest.command[1:]])}",
        )
    stored = trials_of(run)
    summary = summarise_events(
        stored.trials,
        run.name,
        manifest.experiment,
        state_of(manifest),
        describe_setting(manifest),
    )
    return summary.model_copy(update={"damaged": stored.damaged})


def sentences(summary: EventSummary) -> list[str]:
    """What each event came to."""
    happened = [mix.sentence for mix in summary.mixes] + [e.sentence for e in summary.events]
    return happened + summary.left_out


def print_events(summary: EventSummary, console: Console) -> None:
    """The sentences on the terminal."""
    for line in sentences(summary):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def mix_table(mix: MixResult) -> TextTable:
    """Which application was whole at which load."""
    groups = list(dict.fromkeys(group for step in mix.steps for group in step.whole))
    rows: list[tuple[str, ...]] = [
        (
            number(step.flows_per_second),
            number(step.started),
            *(_percent(step.whole.get(group)) for group in groups),
        )
        for step in mix.steps
    ]
    title = f"{mix.server}: mixed traffic, connections established at once, datagrams answered"
    return TextTable(title, ("flows/s asked", "begun", *groups), rows)


def device_answer(runs: OpenedRuns) -> str:
    """The page's summary: what it holds, what gave way first, what exhaustion and a cut did."""
    names = dict.fromkeys(each.server for run in runs.events for each in run.summary.events)
    ceilings = [c for run in runs.ceilings for c in run.summary.ceilings]
    lines = [f"- {line}" for ceiling in ceilings for line in sentences_of(ceiling)]
    lines += [f"- {line}" for run in runs.events for line in sentences(run.summary)]
    return "\n".join([f"**{', '.join(names)} in the middle.**", "", *lines])


def cost_table(runs: OpenedRuns) -> TextTable:
    """What each device paid for a connection at each load, and for a flow that it holds.

    Of memory the table's own cache alone: a device in the kernel has no sockets and no process, and
    other caches' noise would be added.
    """
    rows: list[tuple[str, ...]] = []
    for server in runs.servers:
        memory = server.memory
        entry = memory.caches.get(TABLE_CACHE) if memory else None
        held = number(entry.median) if entry else ""
        for level in server.levels:
            softirq = level.server_cpu.get("softirq")
            rows.append(
                (
                    server.name,
                    number(level.offered_cps),
                    number(level.server_cpu_total.median),
                    number(softirq.median if softirq else None),
                    held,
                )
            )
    columns = (
        "device",
        "connections/s",
        "us of CPU each",
        "of that in softirq",
        "B of nf_conntrack per open flow",
    )
    return TextTable("What the device pays: medians over the rounds", columns, rows)


def acceptance_table(runs: OpenedRuns) -> TextTable:
    """RFC 9411's criteria at each load; what does not hold is marked."""
    rows: list[tuple[str, ...]] = [
        (server.name, number(level.offered_cps), *(_judged(check) for check in level.acceptance))
        for server in runs.servers
        for level in server.levels
    ]
    levels = [level for server in runs.servers for level in server.levels if level.acceptance]
    names = [
        f"{check.name}, {check.wanted}" if "<" in check.wanted else check.name
        for check in (levels[0].acceptance if levels else [])
    ]
    title = "Acceptance of these loads by RFC 9411, section 7.2.3.3, over the sustain phases"
    return TextTable(title, ("device", "connections/s", *names), rows)


def _judged(check: Check) -> str:
    verdict = " - not accepted" if check.holds is False else ""
    wanted = "" if "<" in check.wanted else f" ({check.wanted})"
    return f"{check.seen}{wanted}{verdict}"


def event_table(events: Sequence[EventResult]) -> TextTable:
    """Figures of each event."""
    rows: list[tuple[str, ...]] = [
        (
            each.server,
            each.event,
            _seconds(each.full_at if each.cut_at is None else each.cut_at),
            number(each.before),
            number(each.after),
            str(each.lost_established),
            _seconds(each.first_failure),
            _seconds(each.recovered),
            ", ".join(f"{name} {count:,}" for name, count in each.tracking.items()),
            "" if each.lost is None else f"{each.lost['inside']:,}",
        )
        for each in events
    ]
    columns = (
        "device",
        "event",
        "at, s",
        "requests/s before",
        "after",
        "established lost",
        "new fail from, s",
        "recovered at, s",
        "tracking's counters",
        "frames lost in it",
    )
    return TextTable("Events; times from the start of the traffic", columns, rows)


def over_time(event: EventResult) -> "Figure":
    """Each series of an event below the other, and when it happened."""
    from matplotlib.figure import Figure  # takes a second, which sentences do not need
    from matplotlib.ticker import FuncFormatter

    from stackcost.report.plots.drawing import SERVER_COLOURS

    figure = Figure(figsize=(WIDTH, PANEL_HEIGHT * len(event.series)), layout="constrained")
    panels = figure.subplots(len(event.series), sharex=True, squeeze=False)[:, 0]
    at = event.full_at if event.cut_at is None else event.cut_at
    for axes, (name, series), colour in zip(
        panels, event.series.items(), SERVER_COLOURS, strict=False
    ):
        axes.spines[["top", "right"]].set_visible(False)
        axes.plot([t for t, _ in series], [v for _, v in series], color=colour, linewidth=1.2)
        axes.set_title(name, fontsize=9, loc="left")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        if at is not None:
            axes.axvline(at, color="#999999", linestyle="--", linewidth=0.8)
    panels[-1].set_xlabel("seconds from the start of the traffic; dashed: the event")
    return figure


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.2%}"


def _seconds(at: float | None) -> str:
    return "" if at is None else f"{at:.1f}"
