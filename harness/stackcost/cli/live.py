"""The option `--live` of the commands that measure."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

import typer
from rich.console import Console

from stackcost.contracts.errors import needing_extra

Live = Annotated[
    int | None,
    typer.Option(
        "--live",
        metavar="PORT",
        help="show the run as a page, with metrics for Prometheus, on this port of 127.0.0.1 while "
        "it goes on; 0: any free port",
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
        from stackcost.live.server import serving
        from stackcost.live.watch import Watch
    from stackcost.campaign.observers import observed_by

    watch = Watch()
    with ExitStack() as stack:
        stack.enter_context(observed_by(watch))
        address = stack.enter_context(serving(watch, port))
        console.print(f"live: {address} (metrics: {address}metrics)", soft_wrap=True)
        if receiver := _receiver():
            with needing_extra("OTEL_EXPORTER_OTLP_ENDPOINT needs", "otlp"):
                from stackcost.live.otlp import pushing
            stack.enter_context(pushing(watch, receiver))
            console.print(f"metrics are pushed to {receiver}", soft_wrap=True)
        yield


def _receiver() -> str:
    """Where metrics are pushed by OpenTelemetry's variables; empty: nowhere."""
    base = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").rstrip("/")
    own = os.environ.get("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "")
    return own or (f"{base}/v1/metrics" if base else "")
