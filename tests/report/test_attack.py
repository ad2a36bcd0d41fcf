"""Strings of a stored run are text: in the page, in the notebook's outputs, on the terminal."""

import json
import re
import unicodedata
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from stackcost.cli.entry import app
from stackcost.store import RunFolder
from tests.report.attack import NGINX, SCRIPT, attacking_run

ACTIVE = {"script", "iframe", "object", "embed", "link", "base", "form", "input", "button", "img"}
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return attacking_run(tmp_path_factory.mktemp("results"))


def stackcost(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


class _Page(HTMLParser):
    """Its elements, what is active in it, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.active: list[str] = []
        self.policies: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in ACTIVE:
            self.active.append(tag)
        for name, value in attributes:
            leads = name.rpartition(":")[2] in ("href", "src", "action", "data")
            if name.startswith("on") or (leads and not (value or "").startswith("#")):
                self.active.append(f"{tag} {name}={value}")
        if tag == "meta" and dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policies.append(dict(attributes)["content"] or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_of_hostile_strings_has_them_as_text_and_forbids_scripts(run: RunFolder) -> None:
    stackcost("report", str(run.path))
    text = (run.path / "report.html").read_text()
    page = _Page(text)
    assert page.active == []
    assert page.policies == [POLICY]
    assert text.index("Content-Security-Policy") < text.index("<title")
    assert page.text.count(SCRIPT) > 20 and page.tags.count("svg") >= 12
    assert "completed connections/s" in page.text, "figures' text stays text"
    assert "at 2,000 connections/s one connection takes 100 us of the server's CPU" in page.text
    assert "import" not in page.text, "the notebook's code is left out"
    assert "Traceback" not in page.text and "Warning" not in page.text
    assert not [sign for sign in text if _commands(sign)]
    notebook = json.loads((run.path / "report.ipynb").read_text())
    for cell in notebook["cells"]:
        assert SCRIPT not in "".join(cell["source"]), "a cell's Markdown may hold HTML"
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            assert "text/markdown" not in data
            assert _Page("".join(data.get("text/html", ""))).active == []


def test_a_terminal_gets_no_command_and_no_markup_of_a_stored_run(run: RunFolder) -> None:
    for words in (
        ["show", str(run.path)],
        ["show", str(run.path), "--json"],
        ["ls", str(run.path.parent)],
        ["diff", f"{run.path}#{NGINX}", "#astf-peer"],
        ["diff", f"{run.path}#{NGINX}", "#astf-peer", "--json"],
    ):
        said = stackcost(*words)
        assert not [sign for sign in said if _commands(sign)], words
        assert "[boldred]x[/nope]" in re.sub(r"[\s│]", "", said), words


def _commands(sign: str) -> bool:
    """Whether it controls a terminal, or the direction of what is written."""
    kind = unicodedata.category(sign)
    return kind in ("Cc", "Cf") and sign not in "\n\t"
