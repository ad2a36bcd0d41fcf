"""Names that are imported from the suite exist, also where mypy does not look."""

import ast
import importlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.trex.conftest import REPOSITORY


def imported(source: str) -> Iterator[tuple[str, str]]:
    """(module, name) of each `from stackcost... import name`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stackcost"):
            yield from ((node.module or "", each.name) for each in node.names)


def source_of(path: Path) -> str:
    if path.suffix == ".py":
        return path.read_text()
    cells = json.loads(path.read_text())["cells"]
    return "\n".join("".join(each["source"]) for each in cells if each["cell_type"] == "code")


def exists(module: str, name: str) -> bool:
    if hasattr(importlib.import_module(module), name):
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def test_every_name_that_is_imported_from_the_suite_exists() -> None:
    listing = ["git", "ls-files", "engine/*.py", "examples/*.py", "pcaps/*.py", "notebooks/*.ipynb"]
    files = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    paths = files.stdout.split()
    assert len(paths) > 20
    missing = [
        f"{path}: {module} has no {name}"
        for path in paths
        for module, name in imported(source_of(REPOSITORY / path))
        if not exists(module, name)
    ]
    assert not missing
