"""The reference that is made from the code has all of it."""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from stackcost.experiment.schema import Experiment
from stackcost.report.library.columns import TABLES
from tests.docs.pages import DOCS, REPOSITORY, anchors, reference


def test_every_command_and_option_is_in_it() -> None:
    text = reference().pages()["commands"]
    modules = (REPOSITORY / "harness" / "stackcost" / "cli").glob("*.py")
    written = {path.stem for path in modules if "\n@command()\n" in path.read_text()}
    assert written == set(reference().commands())
    for name, command in reference().commands().items():
        section = text.partition(f"\n## stackcost {name}\n")[2].partition("\n## ")[0]
        assert section and section.count("\n- `") == len(command.params), name
        for option in (opt for each in command.params for opt in each.opts if opt[0] == "-"):
            assert f"- `{option}" in section, f"{name} {option}"


def test_it_and_the_help_are_written_for_people() -> None:
    text = reference().pages()["commands"]
    assert "results/&lt;time>-compare" in text, "a browser takes <time> for a tag"
    assert "\n    stackcost report [OPTIONS] RUN...\n" in text
    for name, command in reference().commands().items():
        said = command.get_help(command.make_context(name, [], resilient_parsing=True))
        assert not re.search(r"list\[|[{}]|<Path>|<path>|<str>| range>|[a-z]\.\.\.", said), said


def test_every_script_is_in_it_with_its_usage() -> None:
    text = reference().pages()["commands"]
    for path in (REPOSITORY / "script").iterdir():
        if path.is_file():
            section = text.partition(f"\n### script/{path.name}\n")[2].partition("\n### ")[0]
            assert len(section.split()) > 5, path.name


def keys(model: type[BaseModel]) -> dict[str, type[BaseModel] | None]:
    """Each key of a section, with the section that it holds."""
    fields = model.model_fields.items()
    return {field.alias or name: below(field.annotation) for name, field in fields}


def below(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (below(each) for each in getattr(annotation, "__args__", ()))
    return next((each for each in inner if each), None)


def check_section(text: str, heading: str, model: type[BaseModel], path: str = "") -> int:
    """That a section of the page has an item with a meaning for each key; how many keys it has."""
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = 0
    for name, held in keys(model).items():
        item = re.search(rf"(?m)^- `{re.escape(name)}`(?: \(|:).*(?:\n  .*)*", section)
        assert item, f"{path}{name} is not in the reference"
        meaning = item[0].replace("\n", " ").rpartition(": ")[2]
        assert meaning.strip(), f"{path}{name} has no meaning: give it a description"
        found += 1 + (check_section(text, f"{path}{name}", held, f"{path}{name}.") if held else 0)
    return found


def test_every_key_of_an_experiment_is_in_it_with_its_meaning() -> None:
    found = check_section(reference().pages()["experiment-file"], "The whole file", Experiment)
    assert found > 70


@pytest.mark.parametrize("name", reference().pages())
def test_the_pages_are_those_of_the_code(name: str) -> None:
    assert (DOCS / f"{name}.md").read_text() == reference().pages()[name], (
        "write them anew: python docs/reference.py"
    )


def test_they_do_not_depend_on_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reference().pages()
    for columns in ("40", "300"):
        monkeypatch.setenv("COLUMNS", columns)
        assert reference().pages() == before


def test_each_section_is_there_once_under_a_heading_that_code_hosts_link_to() -> None:
    for text in reference().pages().values():
        headings = re.findall(r"(?m)^#+ .*$", re.sub(r"(?ms)^```.*?^```$", "", text))
        assert len(headings) == len(set(headings)) == len(anchors(text))
        assert not re.search(r"(?m)^\(.*\)=$", text), "only Sphinx knows such an anchor"


def test_every_table_and_column_of_the_library_is_in_it_with_its_unit() -> None:
    text = reference().pages()["library"]
    shared = text.partition("\n## Columns of several tables\n")[2].partition("\n## ")[0]
    for name, columns in TABLES.items():
        section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        said, _, items = section.partition("\n- ")
        base = re.search(r"Has every column of `(\w+)`", said)
        for column, about in columns.items():
            unit = f" ({about.unit})" if about.unit and "as in" not in about.unit else ""
            item = f"`{column}`{unit}: {about.definition[:9]}"
            figure = f"`{column}`{unit}: the figure"
            known = item in items or figure in items or (f"`{column}`" in said and item in shared)
            assert known or (base and TABLES[base[1]][column] == about), f"{name}.{column}"
