"""The report's figures, each drawn from a Summary alone."""

import io
from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.analysis.spread import Spread
from harness.analysis.summary import Level, ServerResult, Summary

# Colours that stay apart for colour-blind readers and in print (Okabe and Ito).
SERVER_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
KIND_COLOURS = {
    "user": "#56B4E9",
    "system": "#0072B2",
    "task": "#0072B2",
    "irq": "#CC79A7",
    "softirq": "#E69F00",
    "busy": "#009E73",
    "idle polling": "#CFE8DF",
    "idle": "#E8E8E8",
}
OTHER_COLOUR = "#999999"
WIDTH, HEIGHT = 8.0, 3.6  # inches


def completed_against_offered(summary: Summary) -> Figure:
    """Completed connections per second over offered ones; on the diagonal nothing is lost."""
    figure, (axes,) = _figure(1)
    offered = [level.offered_cps for server in summary.servers for level in server.levels]
    if offered:
        axes.plot([0, max(offered)], [0, max(offered)], color="#BBBBBB", linewidth=1, zorder=0)
    for colour, server in zip(SERVER_COLOURS, summary.servers, strict=False):
        _line(axes, server, [level.completed_cps for level in server.levels], colour)
    _labels(axes, "offered connections/s", "completed connections/s")
    axes.legend(frameon=False)
    return figure


def busy_by_kind(summary: Summary) -> Figure:
    """Busy microseconds of the server's side per completed connection, stacked by kind."""
    figure, axes_list = _figure(len(summary.servers), same_scale=True)
    for axes, server in zip(axes_list, summary.servers, strict=True):
        bars = {kind: _medians(server.levels, kind) for kind in _kinds(server)}
        _stack(axes, [f"{level.offered_cps:,.0f}" for level in server.levels], bars)
        _error_bars(axes, [level.server_cpu_total for level in server.levels])
        axes.set_title(server.name, loc="left", fontsize=10)
        _labels(axes, "offered connections/s", "us per connection")
    _legend(figure, axes_list)
    return figure


def latency_over_load(summary: Summary) -> Figure:
    """Time to the response's last byte, from the intended start, over offered load."""
    figure, axes_list = _figure(max(1, len(summary.servers)), same_scale=True)
    for axes, server in zip(axes_list, summary.servers, strict=False):
        for colour, name in zip(SERVER_COLOURS, ("p50", "p99", "p99.9"), strict=False):
            points = [
                (level.offered_cps, percentiles["completion"][name].median)
                for level in server.levels
                for percentiles in level.latency.values()
                if percentiles["completion"][name].median is not None
            ]
            if points:
                axes.plot(*zip(*points, strict=True), "o-", color=colour, label=name)
        if axes.lines:
            axes.set_yscale("log")
            axes.legend(frameon=False, fontsize=8)
        axes.set_title(server.name, loc="left", fontsize=10)
        _labels(axes, "offered connections/s", "us to completion")
    return figure


def cores_by_kind(summary: Summary) -> Figure:
    """What each core's time went to, at every load; median of the rounds."""
    figure, axes_list = _figure(len(summary.servers))
    for axes, server in zip(axes_list, summary.servers, strict=True):
        places = [
            (f"core {core}\n{level.offered_cps:,.0f}", shares)
            for core in sorted({core for level in server.levels for core in level.cores})
            for level in server.levels
            if (shares := level.cores.get(core))
        ]
        kinds = list(dict.fromkeys(kind for _, shares in places for kind in shares))
        ordered = [kind for kind in KIND_COLOURS if kind in kinds]
        ordered += [kind for kind in kinds if kind not in KIND_COLOURS]
        ordered.sort(key=lambda kind: kind == "idle")
        bars = {kind: [100 * shares.get(kind, 0.0) for _, shares in places] for kind in ordered}
        used = {kind: values for kind, values in bars.items() if max(values, default=0) > 0.05}
        _stack(axes, [name for name, _ in places], used)
        axes.set_title(server.name, loc="left", fontsize=10)
        axes.tick_params(axis="x", labelsize=7)
        _labels(axes, "core, offered connections/s", "% of the core's time")
    _legend(figure, axes_list)
    return figure


def memory_over_flows(summary: Summary) -> Figure:
    """Memory above its level without flows, over open flows; every round's reading is a point."""
    with_memory = [server for server in summary.servers if server.memory]
    figure, axes_list = _figure(max(1, len(with_memory)))
    for axes, server in zip(axes_list, with_memory, strict=False):
        memory = server.memory
        assert memory is not None
        for colour, kind in zip(SERVER_COLOURS, memory.counted, strict=False):
            slope, start = memory.per_flow[kind].median, memory.at_no_flow[kind].median
            assert slope is not None and start is not None
            flows = [count for count, _ in memory.points[kind]]
            above = [(size - start) / 2**20 for _, size in memory.points[kind]]
            axes.plot(flows, above, "o", color=colour, markersize=4, alpha=0.7)
            ends = [0.0, max(flows)]
            axes.plot(
                ends,
                [slope * count / 2**20 for count in ends],
                color=colour,
                label=f"{kind}: {slope:,.0f} B per flow",
            )
        axes.set_title(server.name, loc="left", fontsize=10)
        axes.legend(frameon=False, fontsize=8)
        _labels(axes, "open flows", "MiB above no flow")
    return figure


def as_svg(figure: Figure) -> str:
    """A figure as an SVG element; its text stays text, so it can be searched and copied."""
    drawing = io.StringIO()
    with rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(drawing, format="svg")
    text = drawing.getvalue()
    return text[text.index("<svg") :]


def _figure(columns: int, same_scale: bool = False) -> tuple[Figure, Sequence[Axes]]:
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False, sharey=same_scale)[0]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _labels(axes: Axes, below: str, beside: str) -> None:
    axes.set_xlabel(below)
    axes.set_ylabel(beside)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))


def _line(axes: Axes, server: ServerResult, spreads: list[Spread], colour: str) -> None:
    """Medians joined by a line, and every single trial as a faint point."""
    offered = [level.offered_cps for level in server.levels]
    known = [(x, s.median) for x, s in zip(offered, spreads, strict=True) if s.median is not None]
    axes.plot([x for x, _ in known], [y for _, y in known], color=colour, label=server.name)
    for x, each in zip(offered, spreads, strict=True):
        axes.plot([x] * len(each.values), each.values, "o", color=colour, markersize=4, alpha=0.5)


def _kinds(server: ServerResult) -> list[str]:
    return list(dict.fromkeys(kind for level in server.levels for kind in level.server_cpu))


def _medians(levels: list[Level], kind: str) -> list[float]:
    """Unknown ones are drawn as nothing; the table beside the figure says that they are unknown."""
    spreads = [level.server_cpu.get(kind) for level in levels]
    return [each.median or 0.0 if each else 0.0 for each in spreads]


def _stack(axes: Axes, names: list[str], bars: dict[str, list[float]]) -> None:
    floor = [0.0] * len(names)
    places = range(len(names))
    for kind, values in bars.items():
        colour = KIND_COLOURS.get(kind, OTHER_COLOUR)
        axes.bar(places, values, bottom=floor, color=colour, width=0.7, label=kind)
        floor = [below + value for below, value in zip(floor, values, strict=True)]
    axes.set_xticks(list(places), names)


def _legend(figure: Figure, axes_list: Sequence[Axes]) -> None:
    """One legend beside all axes, each kind once, in the order of the stacks from above."""
    kinds: dict[str, Artist] = {}
    for axes in axes_list:
        handles, labels = axes.get_legend_handles_labels()
        kinds |= dict(zip(labels, handles, strict=True))
    if not kinds:
        return  # no trial was whole
    ordered = list(reversed(kinds.items()))
    figure.legend(
        handles=[handle for _, handle in ordered],
        labels=[name for name, _ in ordered],
        loc="outside right upper",
        frameon=False,
        fontsize=8,
    )


def _error_bars(axes: Axes, totals: list[Spread]) -> None:
    """Range of the total over the rounds, with its median above the bar."""
    for place, total in enumerate(totals):
        if total.median is None or total.minimum is None or total.maximum is None:
            continue
        axes.plot([place, place], [total.minimum, total.maximum], color="black", linewidth=1.2)
        axes.annotate(
            f"{total.median:.0f}" if total.median >= 10 else f"{total.median:.1f}",
            (place, total.maximum),
            textcoords="offset points",
            xytext=(0, 3),
            ha="center",
            fontsize=8,
        )
