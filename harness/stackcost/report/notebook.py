"""Executes the notebooks on stored results and renders those that fit to one HTML file.

The file needs nothing else: figures are inline SVG, and no script or font comes from a network.
All notebooks are executed as one, in one kernel: that is one start of Python, not six.
"""

import asyncio
import signal
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from traitlets.config import Config

from stackcost.analysis.summary import Summary
from stackcost.contracts.errors import StackcostError
from stackcost.files import IMPORTED_FROM, NOTEBOOKS
from stackcost.host.files import write_whole
from stackcost.host.modules import hidden
from stackcost.report.counted import counted_systems
from stackcost.report.disk_cache import is_cache
from stackcost.report.past_ceiling import at_rates
from stackcost.report.results.computed import say
from stackcost.report.results.opened import OpenedRuns, open_runs
from stackcost.report.studies import STUDIES

# jsonschema, which nbformat imports, compiles 38 grammars of this package at once when it finds it.
# That takes 5 s, and no notebook needs them.
with hidden("rfc3987_syntax"):
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    from stackcost.report.page import QUESTION, as_page

PUBLISHED_PAIR = {"nginx/kernel", "astf-peer"}
HEAD = """from stackcost.report.first_screen import first_screen
from stackcost.report.results.opened import open_runs
from stackcost.report.show import show

show(*first_screen(open_runs(runs)))"""


def fitting(runs: OpenedRuns) -> list[str]:
    """Names of the notebooks for which these runs have results, in the order of a report."""
    first, *others = [{server.name for server in run.summary.servers} for run in runs.costs] or [
        set()
    ]
    comparable = any(first & other for other in others)
    with_tests = bool(runs.tested)
    counted = [bool(counted_systems(summary)) for summary in runs.summaries]
    with_counts, all_counted = any(counted), bool(counted) and all(counted)
    with_memory = any(server.memory for server in runs.servers)
    fits = {
        "dut": bool(runs.events),
        **{study.notebook: any(map(study.of, runs.summaries)) for study in STUDIES},
        "http_tests": with_tests,
        "past_ceiling": any(map(at_rates, runs.summaries)),
        "disk_cache": any(map(is_cache, runs.summaries)),
        "counted_cost": with_counts,
        "cpu_cost": runs.have_profile_loads and not all_counted,
        "memory_cost": with_memory,
        "ceilings": bool(runs.ceilings) or bool(runs.costs and not with_tests and not all_counted),
        "compare_runs": comparable,
        "published_vs_measured": bool(runs.ceilings)
        or with_tests
        or (not all_counted and any(_is_the_published_pair(run.summary) for run in runs.costs)),
        "trust": bool(runs.costs),
    }
    return [name for name, fit in fits.items() if fit]


def _is_the_published_pair(summary: Summary) -> bool:
    """Whether a run has the two systems that "Comparing TRex ... to Linux NGINX" compares."""
    measured = {each.server for each in summary.servers if each.levels or each.memories}
    return measured >= PUBLISHED_PAIR


def render(runs: Sequence[Path], page: Path, only: str = "") -> Path:
    """Write the report of these runs, from their stored summaries, to `page`; beside it the
    executed notebook, its name ending in .ipynb. Returns `page`.

    `only`: the one notebook of the page. StackcostError if these runs have no results for it.
    """
    names = fitting(open_runs(runs))
    if only and only not in names:
        raise StackcostError(
            f"these runs have no results for a page of {only!r}",
            f"choose one of {', '.join(names)}",
        )
    names = [only] if only else names
    executed = page.with_suffix(".ipynb")
    say(f"executing the notebooks for {page}: {', '.join(names)}")
    notebook = _join(names, runs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _execute(notebook, executed)
        finally:
            write_whole(executed, nbformat.writes(notebook).encode())  # type: ignore[no-untyped-call]
        title = ", ".join(run.name for run in runs)
        write_whole(page, as_page(notebook, title).encode())
    return page


def _read(name: str) -> nbformat.NotebookNode:
    path = NOTEBOOKS / f"{name}.ipynb"
    if not path.is_file():
        raise StackcostError(f"the notebook {path} is missing", "install stackcost again")
    return nbformat.read(path, as_version=4)  # type: ignore[no-any-return, no-untyped-call]


def _join(names: Sequence[str], runs: Sequence[Path]) -> nbformat.NotebookNode:
    """One notebook of many: a cell that names the runs, the first screen, and the questions.

    Its cells are those of the suite; content of a run is shown only by `show`.
    """
    whole = _read(names[0])
    parameters = f"runs = {[str(run.resolve()) for run in runs]}"
    cells = [
        nbformat.v4.new_code_cell(parameters),  # type: ignore[no-untyped-call]
        nbformat.v4.new_code_cell(HEAD),  # type: ignore[no-untyped-call]
    ]
    for name in names:
        own = [c for c in _read(name).cells if "parameters" not in c.metadata.get("tags", [])]
        for cell in own:
            cell.metadata[QUESTION] = name
        cells += own
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    whole.cells = cells
    return whole


class _Client(NotebookClient):
    """Ends at SIGINT and SIGTERM as other parts of a command do, by KeyboardInterrupt.

    nbclient has handlers of its own for both, which end the kernel and then call it dead.
    `interrupted`: one of them came.
    """

    interrupted = False
    _cells: "asyncio.Task[Any] | None" = None

    async def async_start_new_kernel(self, **kwargs: Any) -> None:
        """Replace the handlers, which were just set; a kernel that starts is waited for."""
        loop = asyncio.get_running_loop()
        with suppress(RuntimeError):  # in another thread, which gets no signals
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self._interrupt)
        await super().async_start_new_kernel(**kwargs)

    async def async_execute_cell(self, *given: Any, **named: Any) -> nbformat.NotebookNode:
        """From here on the kernel is ended, whatever happens."""
        self._cells = asyncio.current_task()
        if self.interrupted:
            raise asyncio.CancelledError
        return await super().async_execute_cell(*given, **named)

    def _interrupt(self) -> None:
        if self._cells and not self.interrupted:
            self._cells.cancel()
        self.interrupted = True
        self.shutdown_kernel = "immediate"  # a cell is running


def _execute(notebook: nbformat.NotebookNode, kept: Path) -> None:
    """Fill in the outputs of the cells, up to one that fails, or to Ctrl-C."""
    with TemporaryDirectory(prefix="stackcost-") as place:
        client = _Client(
            notebook,
            kernel_name="python3",
            config=_connection(Path(place)),
            # The kernel imports from where it runs: not from a run's folder.
            resources={"metadata": {"path": str(IMPORTED_FROM)}},
        )
        try:
            client.execute()
        except (asyncio.CancelledError, DeadKernelError):
            if not client.interrupted:
                raise
        except CellExecutionError as error:
            raise StackcostError(
                f"the notebook stopped with {error.ename}: {error.evalue}",
                f"its cells so far are in {kept}",
            ) from error
    if client.interrupted:
        raise KeyboardInterrupt


def _connection(place: Path) -> Config:
    """Sockets in a private folder, so that other users cannot connect.

    By default they are in the current folder, and a killed process leaves them there.
    """
    files = {"connection_file": str(place / "kernel.json"), "ip": str(place / "kernel")}
    return Config(KernelManager={"transport": "ipc", **files})
