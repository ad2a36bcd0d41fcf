"""Folders import one way only, by the code of script/structure."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def structure() -> dict[str, Any]:
    return runpy.run_path(str(REPOSITORY / "script/structure"))


@pytest.fixture(scope="module")
def modules(structure: dict[str, Any]) -> Any:
    return structure["read"](REPOSITORY)


def test_no_folder_imports_one_that_imports_it(structure: dict[str, Any], modules: Any) -> None:
    assert len(modules) > 100
    assert structure["circles"](structure["of_folders"](modules)) == []


def test_no_file_imports_one_that_imports_it(structure: dict[str, Any], modules: Any) -> None:
    assert structure["circles"](structure["of_files"](modules)) == []


def test_every_import_follows_the_order(structure: dict[str, Any], modules: Any) -> None:
    assert structure["against"](modules) == []


def test_the_order_names_no_folder_that_is_not_there(
    structure: dict[str, Any], modules: Any
) -> None:
    assert set(structure["ORDER"]) == {module.folder for module in modules.values()}


def test_the_pages_list_of_folders_is_that_of_the_order(structure: dict[str, Any]) -> None:
    page = (REPOSITORY / "docs/architecture.md").read_text().partition("### How a run goes")[0]
    rows = re.findall("^- ((?:`[a-z]+`(?:, )?)+):", page, re.MULTILINE)
    listed = [name for row in rows for name in re.findall("`([a-z]+)`", row)]
    others = {"stackcost", "__main__", "/servers", "/duts"}
    assert sorted(listed) == sorted(set(structure["ORDER"]) - others)


@pytest.mark.parametrize(
    "back",
    [
        "from stackcost.cli import show",
        "import stackcost.cli.show",
        "def later():\n    from stackcost.cli.show import figures",
        "import typing\nif typing.TYPE_CHECKING:\n    import stackcost.cli.show",
        "import importlib\nimportlib.import_module('stackcost.cli.show')",
        "import subprocess\nsubprocess.run(['python3', '-m', 'stackcost.cli.show'])",
    ],
)
def test_an_import_that_leads_back_is_found_wherever_it_stands(
    structure: dict[str, Any], tmp_path: Path, back: str
) -> None:
    lay(tmp_path, "harness/stackcost/store/folder.py", back)
    lay(tmp_path, "harness/stackcost/cli/show.py", "import stackcost.store.folder")
    modules = structure["read"](tmp_path)
    folders = [["cli", "store"]]
    files = [["stackcost.cli.show", "stackcost.store.folder"]]
    assert structure["circles"](structure["of_folders"](modules)) == folders
    assert structure["circles"](structure["of_files"](modules)) == files
    said = "store must not import cli"
    assert [said in line for line in structure["against"](modules)] == [True]


def test_a_relative_import_is_an_import(structure: dict[str, Any], tmp_path: Path) -> None:
    lay(
        tmp_path,
        "harness/stackcost/store/__init__.py",
        "from . import folder\nfrom ..report import words",
    )
    lay(tmp_path, "harness/stackcost/store/folder.py", "from .. import report")
    lay(tmp_path, "harness/stackcost/report/__init__.py", "")
    lay(tmp_path, "harness/stackcost/report/words.py", "")
    found = structure["of_files"](structure["read"](tmp_path))
    assert found["stackcost.store"] == {"stackcost.store.folder", "stackcost.report.words"}
    assert found["stackcost.store.folder"] == {"stackcost.report"}


def test_systems_under_test_import_each_other_by_no_name(
    structure: dict[str, Any], tmp_path: Path
) -> None:
    lay(tmp_path, "servers/one/server.py", "from .beside import it")
    lay(tmp_path, "servers/one/beside.py", "from stackcost.servers.program import it")
    lay(tmp_path, "harness/stackcost/servers/program.py", "from stackcost.cli import show")
    lay(tmp_path, "harness/stackcost/cli/show.py", "")
    modules = structure["read"](tmp_path)
    graph = structure["of_files"](modules)
    assert graph["servers.one.server"] == {"servers.one.beside"}
    assert graph["servers.one.beside"] == {"stackcost.servers.program"}
    (said,) = structure["against"](modules)
    assert said.endswith("but servers must not import cli")


def test_a_new_folder_needs_a_place_in_the_order(structure: dict[str, Any], tmp_path: Path) -> None:
    lay(tmp_path, "harness/stackcost/plans/plan.py", "")
    (said,) = structure["against"](structure["read"](tmp_path))
    assert said == "plans has no place in the order of script/structure"


def lay(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")
