"""The pages hold together: links lead somewhere, files and commands that they name are there."""

import re
import subprocess
from pathlib import Path

from stackcost.experiment.read_file import read_experiment
from tests.docs.pages import DOCS, PAGES, REPOSITORY, anchors, reference, without_code

WIDTH = 100  # columns
README_LINES = 62  # two screens
COMMAND = re.compile(r"(?:^ {4}|`|\n|\$ )stackcost ([a-z]+)((?: +[^`\n]*)?)", re.MULTILINE)


def test_links_lead_to_a_page_or_a_file_and_to_a_heading_of_it() -> None:
    faults = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
            path, _, anchor = target.partition("#")
            linked = page.parent / path if path else page
            if not linked.is_file() or (anchor and anchor not in anchors(linked.read_text())):
                faults.append(f"{page.name}: {target}")
    assert not faults


def test_files_that_they_name_are_in_the_repository() -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    paths = [Path(line) for line in files.stdout.split("\n") if line]
    known = {str(each) for path in paths for each in (path, path.with_suffix(""), *path.parents)}
    known.remove(".")
    faults = [
        f"{page.name}: {name}"
        for page in PAGES
        for name in re.findall(r"`([\w.-]+/[\w./-]*)`", page.read_text())
        if name.partition("/")[0] in known and name.rstrip("/") not in known
    ]
    assert not faults


def test_lines_have_at_most_100_columns_but_for_tables() -> None:
    faults = [
        f"{page.name}:{number}"
        for page in PAGES
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if len(line) > WIDTH and not line.startswith("|")
    ]
    assert not faults


def test_commands_that_they_name_exist_with_their_options() -> None:
    commands = reference().commands()
    faults = []
    for page in PAGES:
        text = page.read_text()
        for name, rest in COMMAND.findall(text):
            parameters = commands[name].params if name in commands else []
            known = {"--help"}.union(*(each.opts for each in parameters))
            used = re.findall(r"(?<!\S)--[a-z-]+", re.split(r" {2}|#", rest.strip())[0])
            if name not in commands or not known.issuperset(used):
                faults.append(f"{page.name}: stackcost {name}{rest}")
        for script in re.findall(r"\bscript/[a-z0-9-]+", text):
            if not (REPOSITORY / script).is_file():
                faults.append(f"{page.name}: {script}")
    assert not faults


def test_the_navigation_has_every_page() -> None:
    trees = "".join(re.findall(r"(?s)```{toctree}(.*?)```", (DOCS / "index.md").read_text()))
    listed = re.findall(r"(?m)^(?:.* <)?([a-z0-9-]+)>?$", trees)
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


def test_the_readme_fits_two_screens() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= README_LINES


def test_the_tutorial_shows_the_files_that_it_runs() -> None:
    text, folder = (DOCS / "tutorial.md").read_text(), REPOSITORY / "examples/tutorial"
    for name in ("server.py", "mine.py", "mine.yaml"):
        assert (folder / name).read_text().strip() in text, name
    experiment = read_experiment(folder / "mine.yaml", quick=True)
    assert experiment.baseline == "mine" and experiment.load.offered_shares == [0.5]
