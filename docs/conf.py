"""How Sphinx makes the site of these pages; script/docs runs it.

The pages are Markdown, written as for a code host. The site loads nothing from another host. It can
be opened from a folder, because the search index and the pages' texts are scripts and not requests.
"""

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

project = "stackcost"
extensions = ["myst_parser"]
myst_heading_anchors = 3  # a link to a heading is checked, and is written as on a code host
myst_enable_extensions = ["colon_fence"]
smartquotes_action = "q"  # quotes only, because -- begins an option
highlight_language = "none"  # most indented blocks are text of a terminal
pygments_style = "friendly"

html_theme = "furo"
html_title = "stackcost"
html_static_path = ["site.css"]
html_extra_path = ["../build/site-files"]  # what script/docs makes: a report, and the schemas
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

BODIES: dict[str, str] = {}  # of each page by its file's name
TEXTS = "page-texts.js"
# A page that was opened from a folder may not fetch another one, so the search would show titles
# alone.
ANSWER = """
const fetchPage = window.fetch;
window.fetch = (url, ...rest) => {
  const body = PAGES[String(url).split("/").pop()];
  return body === undefined ? fetchPage(url, ...rest) : Promise.resolve(new Response(body));
};
"""


def setup(app: Sphinx) -> None:
    """Give the search page the text of all pages."""
    app.connect("html-page-context", _keep_body)
    app.connect("build-finished", _write_texts)


def _keep_body(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    if page == "search":
        app.add_js_file(TEXTS)
    elif "body" in context:
        BODIES[f"{page}.html"] = f'<div role="main">{context["body"]}</div>'


def _write_texts(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        pages = json.dumps(BODIES)
        Path(app.outdir, "_static", TEXTS).write_text(f"const PAGES = {pages};\n{ANSWER}")
