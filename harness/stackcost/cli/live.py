"""The option `--live` of the commands that measure."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console

from stackcost.contracts.errors import needing_extra

Live = Annotated[
    int | None,
    typer.Option(
        "--live",
        metavar="PORT",
        help="show the run as a page on this port of 127.0.0.1, with metrics; 0: any free port",
        min=0,
        max=65535,
    ),
]


@contextmanager
def shown_live(port: int | None, console: Console) -> Iterator[None]:
    """Inside, the runs of this process are shown on this port; None: they are not."""
    if port is None:
        yield
        return
    with needing_extra("--live needs", "live"):
        from stackcost.runs.live.server import serving
        from stackcost.runs.live.watch import Watch
    from stackcost.runs.observers import observed_by

    watch = Watch()
    with observed_by(watch), serving(watch, port) as address:
        console.print(f"live: {address} (metrics: {address}metrics)", soft_wrap=True)
        yield
