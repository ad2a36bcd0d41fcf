"""The site can be searched when it is opened from a folder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS

pytest.importorskip("sphinx")


def test_the_search_page_has_the_texts_that_it_may_not_fetch(tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    pages.mkdir()
    (tmp_path / "build" / "site-files").mkdir(parents=True)
    for name in ("conf.py", "site.css"):
        (pages / name).write_bytes((DOCS / name).read_bytes())
    (pages / "index.md").write_text("# Start\n\n```{toctree}\nother\n```\n")
    (pages / "other.md").write_text("# Other\n\nNine </script> **sluices**.\n")
    site = tmp_path / "site"
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(pages), str(site)]
    subprocess.run(build, check=True)
    said = (site / "_static" / "page-texts.js").read_text()
    texts = json.loads(said.removeprefix("const PAGES = ").partition(";\n")[0])
    assert set(texts) == {"index.html", "other.html"}
    assert "<strong>sluices</strong>" in texts["other.html"]
    loads = [
        (site / f"{name}.html").read_text().count("page-texts.js") for name in ("search", "other")
    ]
    assert loads == [1, 0]
