"""Folders import one way only, by the code of script/structure."""

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


@pytest.mark.parametrize(
    "back",
    [
        "from stackcost.harness.cli import show",
        "import stackcost.harness.cli.show",
        "def later():\n    from stackcost.harness.cli.show import figures",
        "import typing\nif typing.TYPE_CHECKING:\n    import stackcost.harness.cli.show",
        "import importlib\nimportlib.import_module('stackcost.harness.cli.show')",
        "import subprocess\nsubprocess.run(['python3', '-m', 'stackcost.harness.cli.show'])",
    ],
)
def test_an_import_that_leads_back_is_found_wherever_it_stands(
    structure: dict[str, Any], tmp_path: Path, back: str
) -> None:
    lay(tmp_path, "stackcost/store/folder.py", back)
    lay(tmp_path, "harness/cli/show.py", "import stackcost.store.folder")
    modules = structure["read"](tmp_path)
    folders = [["harness/cli", "stackcost/store"]]
    files = [["stackcost.harness.cli.show", "stackcost.store.folder"]]
    assert structure["circles"](structure["of_folders"](modules)) == folders
    assert structure["circles"](structure["of_files"](modules)) == files
    said = "stackcost/store must not import harness/cli"
    assert [said in line for line in structure["against"](modules)] == [True]


def test_a_relative_import_is_an_import(structure: dict[str, Any], tmp_path: Path) -> None:
    lay(tmp_path, "stackcost/store/__init__.py", "from . import folder\nfrom ..report import words")
    lay(tmp_path, "stackcost/store/folder.py", "from .. import report")
    lay(tmp_path, "stackcost/report/__init__.py", "")
    lay(tmp_path, "stackcost/report/words.py", "")
    found = structure["of_files"](structure["read"](tmp_path))
    assert found["stackcost.store"] == {"stackcost.store.folder", "stackcost.report.words"}
    assert found["stackcost.store.folder"] == {"stackcost.report"}


@pytest.mark.parametrize("package", ["harness", "servers", "duts"])
@pytest.mark.parametrize("line", ["import {}.own", "from {} import own", "from {}.own import it"])
def test_an_import_that_no_wheel_has_is_reported(
    structure: dict[str, Any], tmp_path: Path, package: str, line: str
) -> None:
    lay(tmp_path, "harness/cli/show.py", line.format(package))
    (said,) = structure["against"](structure["read"](tmp_path))
    assert said == f"stackcost.harness.cli.show imports {package}, which is stackcost.{package}"


def test_a_new_folder_needs_a_place_in_the_order(structure: dict[str, Any], tmp_path: Path) -> None:
    lay(tmp_path, "harness/plans/plan.py", "")
    (said,) = structure["against"](structure["read"](tmp_path))
    assert said == "harness/plans has no place in the order of script/structure"


def lay(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")
