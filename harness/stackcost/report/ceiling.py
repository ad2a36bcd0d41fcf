"""The results of a run of searches: sentences, and the trials as a table and a plot."""

from typing import TYPE_CHECKING

from rich.console import Console

from stackcost.analysis.ceiling.summary import Ceiling, CeilingSummary
from stackcost.report.figure_tables import system_figure_table
from stackcost.report.flags import search_doubts
from stackcost.report.terminal_table import draw
from stackcost.report.text_table import TextTable
from stackcost.report.words import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 8.0, 3.6  # inches
HELD, LOST, PASSED_OVER = "#009E73", "#D55E00", "#BBBBBB"


def trace_table(ceiling: Ceiling) -> TextTable:
    """Every trial of a search in order."""
    rows: list[tuple[str, ...]] = [
        (
            str(row.number),
            number(row.load),
            f"{row.duration_s:g}",
            number(row.lost),
            f"{row.loss_ratio:.3%}",
            ", ".join(f"{cause} {count:,}" for cause, count in row.lost_by.items() if count),
            ("" if row.decisive else "repeated: ") + "; ".join(row.disturbed),
        )
        for row in ceiling.trace
    ]
    return TextTable(
        title=f"Trials of the search for {ceiling.of} of {ceiling.server}",
        columns=("trial", ceiling.unit, "s", "lost", "share", "by cause", "remark"),
        rows=rows,
    )


def trace_plot(ceiling: Ceiling) -> "Figure":
    """The load of each trial in order: held without loss or not, and the bounds that were found."""
    from matplotlib.figure import Figure  # takes a second, which sentences do not need

    from stackcost.report.plots import SERVER_COLOURS, plain_numbers

    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    kinds = (
        (HELD, "nothing lost", [r for r in ceiling.trace if r.decisive and not r.lost]),
        (LOST, "some lost", [r for r in ceiling.trace if r.decisive and r.lost]),
        (PASSED_OVER, "disturbed, repeated", [r for r in ceiling.trace if not r.decisive]),
    )
    for colour, label, rows in kinds:
        if rows:
            axes.plot(
                [row.number for row in rows],
                [row.load for row in rows],
                "o",
                color=colour,
                label=label,
                markersize=5,
            )
    for colour, rate in zip(SERVER_COLOURS, ceiling.rates, strict=False):
        if rate.value is not None:
            label = f"{rate.name} {rate.value:,.0f}"
            axes.axhline(rate.value, color=colour, linewidth=1, label=label)
    axes.set_yscale("log")
    plain_numbers(axes)
    axes.set_xlabel("trial")
    axes.set_ylabel(ceiling.unit)
    axes.legend(frameon=False, fontsize=8)
    return figure


def print_ceilings(summary: CeilingSummary, console: Console, long: bool = False) -> None:
    """Each ceiling in a sentence; `long`: every trial and every figure first."""
    if long:
        for ceiling in summary.ceilings:
            console.print(draw(trace_table(ceiling)))
        console.print(draw(system_figure_table(summary)))
    for ceiling in summary.ceilings:
        for line in sentences_of(ceiling):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    for repeated in summary.repeated:
        console.print(f"{repeated.sentence}.", highlight=False, markup=False, soft_wrap=True)
    for line in search_doubts(summary):
        console.print(f"  {line}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    if summary.state == "interrupted":
        console.print("this run was interrupted; the figures use the trials before that")


def sentences_of(ceiling: Ceiling) -> list[str]:
    """The sentences of the search and of its reference peer."""
    lines = [ceiling.sentence]
    if ceiling.reference:
        lines.append(f"{ceiling.reference.sentence}.")
    if ceiling.expected:
        found = next((rate.value for rate in ceiling.rates if rate.value), None)
        share = "" if found is None else f"; {found / ceiling.expected:.0%} of it were found"
        lines.append(f"Its configuration expects {ceiling.expected:,g} {ceiling.unit}{share}.")
    return lines


def settings_of(ceiling: Ceiling) -> str:
    """The search's settings under MLRsearch's names."""
    kept = ceiling.settings.model_dump(exclude={"goals"})
    words = ", ".join(f"{name} {value:g}" for name, value in kept.items())
    return f"{ceiling.seconds:,.0f} s; MLRsearch with {words}."
