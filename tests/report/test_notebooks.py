"""Every notebook on real stored runs, each alone and all as the report that is sent."""

import functools
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.report.library.columns import TABLES
from stackcost.report.notebook import NOTEBOOKS, QUESTION, fitting, render
from stackcost.report.published.document import Document, PublishedTable, documents
from stackcost.report.published.match import comparable
from stackcost.report.results.opened import OpenedCosts, OpenedRuns, open_runs
from tests.report.cells import cells, nbformat
from tests.report.cells import shown as run_cells
from tests.report.fixtures import ALL, COSTS, RUNS

NAMES = [
    "dut",
    "http_tests",
    "cpu_cost",
    "memory_cost",
    "ceilings",
    "compare_runs",
    "published_vs_measured",
    "trust",
]

LISTED = re.compile(r"([\w ]+ [\d.]+, ){2}")  # "user 7.5, system 78, irq 18"
OF_HTTP_CLIENTS = ["past_ceiling", "disk_cache"]  # see test_http_notebooks.py
OF_PATHS = ["paths"]  # see test_http_notebooks.py
OF_NETWORKS = ["network"]  # see tests/analysis/test_network.py
OF_COUNTS = ["counted_cost"]  # see test_counted.py
OF_HTTP_COSTS = ["http_versions", "tls"]  # see test_http_notebooks.py


# The runs that each notebook is tried alone on: those that it has most to say of.
ALONE = dict.fromkeys(NAMES, COSTS) | {
    "dut": [RUNS / "events", RUNS / "connections"],
    "http_tests": [RUNS / "with_clients"],
    "cpu_cost": COSTS[:1],
    "ceilings": [RUNS / "connections"],
}


def question(name: str) -> str:
    """The first heading of a notebook."""
    return str(cells(name)[0].source).splitlines()[0].lstrip("# ")


@functools.cache
def shown(name: str, runs: tuple[Path, ...]) -> list[str]:
    """Each once: it takes seconds."""
    return run_cells(name, runs)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of all notebooks on all runs."""
    return render(ALL, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def published(report: Path) -> list[str]:
    """What the notebook of publications shows in it."""
    whole = nbformat.read(report.with_suffix(".ipynb"), as_version=4)
    return [
        output.data.get("text/html") or output.data["text/markdown"]
        for cell in whole.cells
        if cell.metadata.get(QUESTION) == "published_vs_measured" and cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "display_data"
    ]


class _Page(HTMLParser):
    """What a page would load or run, its anchors and links, and its tables' cells by caption."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._caption = self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attributes)
        self.ids.append(named.get("id") or "")
        if tag != "use" and not (named.get("href") or "#").startswith("#"):
            self.loads.append(named["href"] or "")
        self.loads += [
            value or "" for name, value in attributes if name in ("src", "data", "action")
        ]
        if tag == "caption":
            self._caption = ""
        if tag == "tr" and self._caption:
            self.tables.setdefault(self._caption, []).append([])
        if tag == "td":
            self.tables[self._caption][-1].append("")
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""
        if tag == "table":
            self._caption = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "caption":
            self._caption += data
        if self._inside == "td":
            self.tables[self._caption][-1][-1] += data


def test_the_notebooks_are_these_and_hold_no_outputs() -> None:
    names = NAMES + OF_HTTP_CLIENTS + OF_PATHS + OF_NETWORKS + OF_HTTP_COSTS + OF_COUNTS
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(names)
    for name in names:
        assert question(name).endswith("?"), "each begins with its question"
        for cell in cells(name):
            assert not cell.get("outputs") and cell.get("execution_count") is None


@pytest.mark.parametrize("name", NAMES + OF_HTTP_CLIENTS + OF_PATHS + OF_NETWORKS + OF_HTTP_COSTS)
def test_each_notebook_computes_from_the_tables_of_the_library(name: str) -> None:
    """So that a reader can change what is drawn; a plot is made in a cell."""
    code = "\n".join(cell.source for cell in cells(name) if cell.cell_type == "code")
    tables = set(re.findall(r"\brun\.([a-z_]+)", code)) & {*TABLES, "kinds"}
    assert tables and "plots.key(" in code


@pytest.mark.parametrize("name", NAMES)
def test_each_notebook_runs_alone_and_opens_with_answer_and_plot(name: str) -> None:
    outputs = shown(name, tuple(ALONE[name]))
    plot = next(at for at, output in enumerate(outputs) if "<svg" in output)
    answer = "\n".join(outputs[:plot])
    assert 1 <= plot <= 2, "the answer, then at once the plot that shows it"
    assert answer.startswith("**") and re.search(r"\d", answer), "an answer has a figure"


def test_the_answer_has_the_stored_factor_and_its_range() -> None:
    (factor, *_) = open_runs(COSTS[:1]).factors("cpu")
    answer = shown("cpu_cost", (COSTS[0],))[0]
    assert factor.ratio.minimum is not None and factor.ratio.maximum is not None
    for value in (factor.ratio.median, factor.ratio.minimum, factor.ratio.maximum):
        assert f"{value:.2f}" in answer or f"{value:.1f}" in answer
    assert "range of 7 rounds" in answer


def test_numbers_on_axes_are_written_out_and_ranges_stay_whole(report: Path) -> None:
    everything = report.read_text()
    assert re.search(r">\d+,000<", everything) and not re.search(r">\s*1e\d+\s*<", everything)
    assert 'class="whole">(' in everything


def test_a_run_alone_has_nothing_to_be_compared_with() -> None:
    assert "compare_runs" not in fitting(open_runs(COSTS[:1]))
    assert "compare_runs" in fitting(open_runs(COSTS))


def test_runs_of_different_systems_are_not_compared() -> None:
    runs = open_runs(COSTS)
    first = runs.costs[0].summary.model_copy(update={"servers": []})
    assert "compare_runs" not in fitting(
        OpenedRuns(costs=[OpenedCosts(runs.costs[0].manifest, first), *runs.costs[1:]])
    )


def test_the_comparison_of_runs_without_a_common_figure_says_so() -> None:
    assert "nothing to compare" in shown("compare_runs", tuple(COSTS[:1]))[0]


def test_systems_of_two_runs_are_distinguished() -> None:
    names = [server.name for server in open_runs(COSTS).servers]
    assert len(set(names)) == len(names) and names[0] == "run 1: nginx/kernel"
    assert open_runs(COSTS[:1]).servers[0].name == "nginx/kernel"


def _numbers(document: Document, table: PublishedTable, page: _Page) -> list[list[float]]:
    start = f"{table.name}: {table.title}"
    (rows,) = (
        rows
        for caption, rows in page.tables.items()
        if caption.startswith(start) and document.title in caption
    )
    return [
        [float(cell.replace(",", "")) for cell in row if re.fullmatch(r"-?\d[\d,]*(\.\d+)?", cell)]
        for row in rows
        if row
    ]


def on_page() -> list[Document]:
    """The publications that these runs can be compared with."""
    return comparable(list(documents().values()), open_runs(ALL))


def test_published_vs_measured_has_every_number_of_every_table(published: list[str]) -> None:
    page = _Page("".join(published))
    compared = 0
    for document in on_page():
        for table in document.tables:
            wanted = [[float(c) for c in row if isinstance(c, float | int)] for row in table.rows]
            assert _numbers(document, table, page) == wanted, f"{document.title}, {table.name}"
            compared += sum(map(len, wanted))
    assert len(on_page()) > 1 and compared > 800


def test_published_factors_stand_there_recomputed(published: list[str]) -> None:
    answer, *others = published
    steps = "".join(others)
    assert "claimed cpu factor is 80" in answer and "data it is 29.4; measured here: " in answer
    assert "claimed memory factor is 2,000" in answer
    for value in ("80x", "27.4x", "32.4x", "29.4x", "2,000x", "1,667x", "6.4 GiB", "515x"):
        assert f"<td>{value}</td>" in steps, value
    for value in ("5.49 CPUs", "878,240 cycles", "29,827 cycles", "12.9 GiB"):
        assert f"<td>{value}</td>" in steps, value


def test_one_busy_core_is_as_published_and_as_measured_here(published: list[str]) -> None:
    rows = _Page("".join(published)).tables["One busy core, and the cores for 100 Gb/s of payload"]
    nginx, trex, *here = rows[-2 - len(open_runs(ALL).servers) :]
    assert nginx[1:4] == ["3,644", "0.91", "0.11"] and trex[1:4] == ["107,285", "29.5", "3.53"]
    assert nginx[4] == "110; claimed with idle cores: 320"
    assert trex[4] == "3.39; claimed with idle cores: 4"
    assert len(here) > 1 and all(row[0].startswith("measured here: ") for row in here)


def test_every_published_table_has_ours_beside_it_or_a_reason(published: list[str]) -> None:
    page = _Page("\n".join(published))
    for document in on_page():
        rows = page.tables[f"{document.title}: published and measured here"]
        names = [row[0].partition(":")[0] for row in rows if row and row[0]]
        assert names == [table.name for table in document.tables], "each once, in their order"
        assert all(row[2] or row[-1] for row in rows if row), "a number, or why there is none"


def test_a_page_of_a_notebook_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match="no results for a page of 'tls'"):
        render(ALL, tmp_path / "page.html", "tls")


def test_the_report_is_one_file_that_needs_no_network(report: Path) -> None:
    assert sorted(path.name for path in report.parent.iterdir()) == ["report.html", "report.ipynb"]
    assert report.stat().st_size < 10_000_000
    text = report.read_text()
    page = _Page(text)
    assert page.loads == [] and "script" not in page.tags and "link" not in page.tags
    assert page.tags.count("svg") > 20
    texts = [cell for rows in page.tables.values() for row in rows for cell in row]
    assert not [text for text in texts if LISTED.search(text)], "one value a cell"
    for name in NAMES:
        assert name in page.ids and f"<h2>{question(name)}</h2>" in text
    assert "Traceback" not in text


def test_a_page_has_only_the_publications_that_its_runs_can_be_compared_with() -> None:
    *_, others = texts = shown("published_vs_measured", tuple(COSTS))
    titles = {text.strip("# \n") for text in texts if text.startswith("### ")}
    assert titles == {documents()["trex_nginx"].title}
    assert all(each.title in others for each in documents().values() if each.title not in titles)
    clients = "\n".join(shown("published_vs_measured", (RUNS / "with_clients",)))
    assert "claimed cpu factor" not in clients and "One busy core" not in clients
    assert "stand those of: " in clients and documents()["paths"].title in clients
    assert f"### {documents()['paths'].title}" not in clients


def test_runs_that_measured_nothing_published_have_no_page_of_it() -> None:
    """A firewall's ceiling, for one: its report had 77 tables of others."""
    assert shown("published_vs_measured", (RUNS / "events",)) == []
