"""The hand-written pages as text, and the generator of the others."""

import functools
import importlib.util
import re
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]


@functools.cache
def reference() -> ModuleType:
    """docs/reference.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_code(text: str) -> str:
    """Prose alone: without fenced and indented blocks and without `code`."""
    text = re.sub(r"(?ms)^( *)```.*?^\1```$", "", text)
    text = re.sub(r"(?m)^ {4}.*$", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text: str) -> set[str]:
    """What a link may name behind # : the headings, as a code host writes them."""
    headings = re.findall(r"(?m)^#+ +(.*)$", re.sub(r"(?ms)^```.*?^```$", "", text))
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}
