"""How a report looks in a browser, as far as a test can tell: nothing is cut off or squeezed."""

import re
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import BarContainer

from stackcost.analysis.comparing.comparison import Comparison
from stackcost.analysis.spread import spread
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Factor, Memory, ServerResult
from stackcost.report.page import QUESTION, as_page
from stackcost.report.plots import as_svg, labels, panels, title
from stackcost.report.plots.costs import factor_intervals, memory_by_system
from stackcost.report.short_tables import short_memory_table
from stackcost.report.show import as_html
from stackcost.report.tables import memory_table
from stackcost.report.text_table import TextTable
from tests.analysis.runs import CONTEXT, compared
from tests.report.cells import v4


def test_a_factor_of_long_names_leaves_room_for_what_is_drawn() -> None:
    cost, other = spread([111.0], "us"), spread([42.5], "us")
    factor = Factor(
        name="cpu",
        ratio=spread([2.5, 2.6, 2.7], "1"),
        baseline_cost=cost,
        against_cost=other,
        comparison=Comparison(unit="us", a=other, b=cost),
        at="3,600 connections/s, 76% of what nginx/kernel holds, 4 of its trials flagged",
        baseline="nginx/kernel",
        against="astf-peer",
    )
    figure = factor_intervals([factor])
    assert figure
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    assert axes.get_window_extent().width > figure.bbox.width / 2
    for text in (axes.xaxis.label, *axes.get_yticklabels()):
        seen = text.get_window_extent()
        assert seen.x0 >= 0 and seen.x1 <= figure.bbox.width, text.get_text()


def memory(counted: str, total: float) -> Memory:
    sizes = {"per_flow.slab": 4225.0, "per_flow.pools": 196.0, "total": total}
    figures = {f"memory.{name}": spread([each], "B") for name, each in sizes.items()}
    return Memory(figures=figures, counted=[counted], counted_caches=[], points={})


def test_a_bar_of_memory_is_as_long_as_its_total() -> None:
    """What is read but not charged to a system, as the slab to a user-space peer, is not drawn."""
    servers = [
        ServerResult.model_construct(
            name="kernel", memories={"established": memory("slab", 4225.0)}
        ),
        ServerResult.model_construct(name="peer", memories={"established": memory("pools", 196.0)}),
    ]
    (axes,) = memory_by_system(servers).axes
    drawn = [0.0, 0.0]
    for container in axes.containers:
        assert isinstance(container, BarContainer)
        for row, bar in enumerate(container):
            drawn[row] += bar.get_width()
    assert drawn == [4225.0, 196.0]


def test_axes_without_a_known_value_say_so() -> None:
    _, (known, unknown) = panels(2, same_scale=True)
    known.plot([1, 2], [3, 4])
    unknown.plot([], [])
    for axes in (known, unknown):
        labels(axes, "offered connections/s", "us to the last byte")
    assert [text.get_text() for text in unknown.texts] == ["not known"] and not known.texts
    assert known.yaxis.get_tick_params()["labelleft"]


def test_a_long_name_takes_several_lines_and_a_short_one_is_not_broken() -> None:
    html = as_html(TextTable("title", ("of", "is"), [("nginx/kernel if sent", "2 (1-3)")]))
    whole = '<span class="whole">'
    assert f"<td>{whole}nginx/kernel</span> if sent</td>" in html
    assert f"<td>2 {whole}(1-3)</span></td>" in html


def of_notebook(name: str, text: str, shows: str = "", code: bool = True) -> list[Any]:
    """A heading with text, and a cell of code that shows this."""
    cells = [v4.new_markdown_cell(text)]  # type: ignore[no-untyped-call]
    if code:
        output = v4.new_output("display_data", data={"text/html": shows})  # type: ignore[no-untyped-call]
        cells.append(v4.new_code_cell("show()", outputs=[output] if shows else []))  # type: ignore[no-untyped-call]
    for cell in cells:
        cell.metadata[QUESTION] = name
    return cells


def test_questions_are_folded_and_what_has_no_results_is_left_out() -> None:
    said = v4.new_output("display_data", data={"text/html": "<p>The answer</p>"})  # type: ignore[no-untyped-call]
    head = v4.new_code_cell("first_screen()", outputs=[said])  # type: ignore[no-untyped-call]
    cells = [
        head,
        *of_notebook("cpu", "# What?", "<p>112 us</p>"),
        *of_notebook("cpu", "## Nothing\n\nwords about nothing"),
        *of_notebook("cpu", "## Where?\n\nwords about where", code=False),
        *of_notebook("cpu", "### Here", "<p>there</p>"),
        *of_notebook("cpu", "## Empty", code=False),
        *of_notebook("cpu", "### Nothing below"),
        *of_notebook("others", "# What did others publish?"),
        *of_notebook("others", "## Tables\n\nwords about tables"),
    ]
    page = as_page(v4.new_notebook(cells=cells), "a run")  # type: ignore[no-untyped-call]
    assert re.findall(r"<summary><h\d>(.*?)</h\d></summary>", page) == ["What?", "Where?", "Here"]
    before, folded = page.split("<details>", 1)
    assert "The answer" in before and "112 us" in folded and "words about where" in folded
    assert "about nothing" not in page and "about tables" not in page
    assert page.count("<details>") == page.count("</details>") == 3


def test_who_cannot_see_a_figure_is_told_what_it_shows() -> None:
    figure, (axes,) = panels(1)
    axes.plot([1, 2], [3, 4])
    labels(axes, "offered connections/s", 'us & "more"')
    title(axes, "nginx/kernel")
    named = 'aria-label="us &amp; &quot;more&quot; over offered connections/s: nginx/kernel"'
    assert as_svg(figure).startswith(f'<svg role="img" {named}')
    assert '<th scope="col">of</th>' in as_html(TextTable("title", ("of",), [("nginx",)]))


def test_memory_without_flows_is_of_the_system_alone_and_not_of_the_machine() -> None:
    summary = summarise(compared(), CONTEXT)
    assert not any("no flow" in name for name in short_memory_table(summary).columns)
    rows = memory_table(summary).rows
    told = {(server, kind) for server, _, kind, _, without, _ in rows if without}
    assert told == {
        ("nginx/kernel", "process"),
        ("astf-peer", "process"),
        ("astf-peer", "engine pools"),
    }
