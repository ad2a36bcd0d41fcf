"""Executes the notebook on a run's stored results and renders it to one HTML file.

The file needs nothing else: figures are inline SVG, and no script or font comes from a network.
"""

import io
import warnings
from contextlib import redirect_stderr
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from harness.errors import StackcostError

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "compare.ipynb"
PAGE = Path(__file__).with_name("page.html.j2")


def render(run: Path) -> Path:
    """Write report.ipynb (executed) and report.html into the run folder; returns the latter."""
    executed, page = run / "report.ipynb", run / "report.html"
    if not NOTEBOOK.is_file():
        raise StackcostError(f"the notebook {NOTEBOOK} is missing", "git checkout notebooks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _execute(run, executed)
        page.write_text(_to_html(executed), encoding="utf-8")
    return page


def _execute(run: Path, executed: Path) -> None:
    import papermill  # takes a second to import, and only reports need it
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    try:
        with redirect_stderr(io.StringIO()):
            papermill.execute_notebook(
                NOTEBOOK,
                executed,
                parameters={"run": str(run.resolve())},
                kernel_name="python3",
                progress_bar=False,
                config=Config(KernelManager={"transport": "ipc"}),  # nobody else can connect
            )
    except PapermillExecutionError as error:
        raise StackcostError(
            f"the notebook stopped with {error.ename}: {error.evalue}",
            f"its cells so far are in {executed}",
        ) from error


def _to_html(executed: Path) -> str:
    """The notebook's text and outputs, without its code, in a page of our own.

    nbconvert's full page brings scripts that it loads from a network; its "basic" body has none.
    """
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(
        template_name="basic",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    body, _ = exporter.from_filename(str(executed))
    template = Environment(autoescape=True).from_string(PAGE.read_text())
    return template.render(title=f"stackcost {executed.parent.name}", body=Markup(body))
