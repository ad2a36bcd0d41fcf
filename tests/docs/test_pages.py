"""The pages hold together: links lead somewhere, files and commands that they name are there."""

import re
import subprocess
from pathlib import Path

import pytest

from harness.experiment.load_file import load_experiment
from tests.docs.pages import DOCS, PAGES, REPOSITORY, anchors, reference, without_code

WIDTH = 100  # columns
README_LINES = 62  # two screens
COMMAND = re.compile(r"(?:^ {4}|`|\n|\$ )stackcost ([a-z]+)((?: +[^`\n]*)?)", re.MULTILINE)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@each_page
def test_links_lead_to_a_page_or_a_file_and_to_a_heading_of_it(page: Path) -> None:
    text = page.read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        assert "://" not in target, f"{target}: a page needs no other host"
        path, _, anchor = target.partition("#")
        linked = page if not path else page.parent / path
        assert linked.is_file(), target
        assert not anchor or anchor in anchors(linked.read_text()), target


@each_page
def test_files_that_it_names_are_in_the_repository(page: Path) -> None:
    kept = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()
    folders = {path.partition("/")[0] for path in kept if "/" in path}
    everything = {*kept, *(str(parent) for path in kept for parent in Path(path).parents)}
    for name in re.findall(r"`([\w.-]+/[\w./-]*)`", page.read_text()):
        if name.partition("/")[0] in folders:
            found = name.rstrip("/") in everything or f"{name}.py" in everything
            assert found, f"{name}: there is no such file"


@each_page
def test_lines_have_at_most_100_columns_but_for_tables(page: Path) -> None:
    lines = enumerate(page.read_text().splitlines(), 1)
    long = [number for number, line in lines if len(line) > WIDTH and not line.startswith("|")]
    assert not long, f"{page.name}: lines {long}"


@each_page
def test_commands_that_it_names_exist_with_their_options(page: Path) -> None:
    commands = reference().commands()
    text = page.read_text()
    for name, rest in COMMAND.findall(text):
        assert name in commands, f"stackcost {name}"
        known = {option for each in commands[name].params for option in each.opts} | {"--help"}
        used = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", rest.partition("#")[0].partition("  ")[0]))
        assert used <= known, f"stackcost {name} has no {used - known}"
    for script in re.findall(r"\bscript/[a-z-]+", text):
        assert (REPOSITORY / script).is_file(), script


def test_the_navigation_has_every_page() -> None:
    listed = re.findall(r"(?m)^([a-z0-9-]+)$", (DOCS / "index.md").read_text())
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


def test_the_readme_fits_two_screens() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= README_LINES


def test_the_tutorial_shows_the_files_that_it_runs() -> None:
    text, folder = (DOCS / "tutorial.md").read_text(), REPOSITORY / "examples/tutorial"
    for path in folder.iterdir():
        if path.suffix in (".py", ".yaml"):
            assert path.read_text().strip() in text, path.name
    experiment = load_experiment(folder / "mine.yaml", quick=True)
    assert experiment.baseline == "mine" and experiment.load.offered_shares == [0.5]
