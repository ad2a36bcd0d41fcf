"""The sample report: a real run, rendered from the notebooks as they are, that names no machine."""

import re
from html import unescape

import pytest

from stackcost.report.notebook import question
from tests.docs.pages import DOCS, REPOSITORY
from tests.report.cells import cells

SAMPLE = DOCS / "sample-report.html"
AGAIN = "render it again: stackcost report RUN, and copy its report.html to docs/sample-report.html"


@pytest.fixture(scope="module")
def page() -> str:
    return SAMPLE.read_text()


def test_it_has_every_section_of_the_notebooks_that_it_is_made_of(page: str) -> None:
    names = re.findall(r'<a id="([a-z_]+)"></a>', page)
    assert {"cpu_cost", "memory_cost", "ceilings", "trust"} <= set(names)
    headings = [unescape(found) for found in re.findall(r"<h[12][^>]*>(.*?)</?(?:a|h[12])\b", page)]
    wanted = [
        line.lstrip("# ")
        for name in names
        for cell in cells(name)
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if re.match("##? ", line)
    ]
    assert [each for each in headings if each in set(wanted)] == wanted, AGAIN
    for name in names:
        assert f'href="#{name}"' in page and question(name) in page, AGAIN


def test_it_says_nothing_of_the_machine_but_what_figures_need(page: str) -> None:
    assert len(page) < 1_500_000
    for told in ("/work", "/tmp/", "/root", "/home", "/suite", "://pypi", "proxy.", "@localhost"):
        assert told not in page, told
    assert not re.search(r'(?:src|href)="(?!#)', page), "it loads nothing"
    assert page.count("<svg") > 10 and "Traceback" not in page


def test_it_is_linked_where_a_visitor_looks_first() -> None:
    assert "(docs/sample-report.html)" in (REPOSITORY / "README.md").read_text()
    assert 'href="sample-report.html"' in (DOCS / "index.md").read_text()
    assert '"sample-report.html"' in (DOCS / "conf.py").read_text()
