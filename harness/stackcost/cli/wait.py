"""The option `--wait` of the commands that measure."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

Wait = Annotated[
    bool,
    typer.Option("--wait", help="begin when no other run is active on this machine"),
]


@contextmanager
def alone(wait: bool, results: Path, console: Console) -> Iterator[None]:
    """With `wait`: inside, no other run is active on this machine.

    The console and the page of `--live` say for which one it waits.
    StackcostError at once, where no run could be stored in `results`.
    """
    if not wait:
        yield
        return
    from stackcost.bed.local import check_root
    from stackcost.bed.lock import lock_when_free
    from stackcost.runs.observers import tell_waiting
    from stackcost.store import RunFolder

    def say(busy: str) -> None:
        tell_waiting(f"waiting: {busy}")
        console.print(f"waiting: {busy}", soft_wrap=True)

    check_root()
    RunFolder.check_place(results)
    with lock_when_free(say, math.inf):
        yield
