"""The dask cluster whose workers are beds: one of this process, or one that is running."""

import asyncio
import logging
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import dask
from distributed import Client, Scheduler, SpecCluster, Worker

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.schema import Experiment
from stackcost.host.signals import ending_signals_raise
from stackcost.runs.cells.worker import BED, Bed

LOOPBACK = "127.0.0.1"
WAIT_S = 30.0  # for a scheduler that answers
WORKER: dict[str, Any] = {
    "nthreads": 1,
    "resources": {BED: 1},
    "memory_limit": 0,
    "dashboard": False,
}


@contextmanager
def own_cluster(beds: Mapping[str, Experiment], dashboard: int | None) -> Iterator[Client]:
    """A scheduler in this process, and a worker for each bed. `dashboard`: the port of its pages.

    Scheduler and workers speak within this process; what listens does so on 127.0.0.1.
    """
    common = {"protocol": "inproc", "dashboard_address": f"{LOOPBACK}:0"}
    pages = {
        "dashboard": dashboard is not None,
        "dashboard_address": f"{LOOPBACK}:{dashboard or 0}",
    }
    workers = {
        name: {
            "cls": Worker,
            "options": common | WORKER | {"name": name, "plugins": (Bed(name, bed),)},
        }
        for name, bed in beds.items()
    }
    with (
        _settings(pages=dashboard is not None),
        SpecCluster(workers, {"cls": Scheduler, "options": common | pages}) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def running_cluster(address: str) -> Iterator[Client]:
    """A cluster that somebody else has started, with the certificates of dask's configuration."""
    _check_address(address)
    with _settings(pages=False), _joining(address), Client(address, timeout=WAIT_S) as client:
        yield client


def serve_bed(name: str, bed: Experiment, address: str) -> None:
    """Be the worker of a bed in a running cluster, until the cluster or this process ends."""

    async def serve() -> None:
        plugins = (Bed(name, bed),)
        async with Worker(address, name=name, plugins=plugins, **WORKER) as worker:
            await worker.finished()

    _check_address(address)
    with _settings(pages=False), _joining(address):
        asyncio.run(serve())


def _check_address(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "tls" and parts.hostname != LOOPBACK:
        raise StackcostError(
            f"the scheduler {address} is not reached over TLS",
            "who reaches it runs programs on all beds: start it with certificates, and name it as "
            "tls://HOST:PORT",
        )


@contextmanager
def _joining(address: str) -> Iterator[None]:
    try:
        yield
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise StackcostError(
            f"cannot join the cluster of {address}: {error}",
            "start it: dask scheduler; certificates are those of dask's own configuration "
            "(distributed.comm.tls)",
        ) from error


@contextmanager
def _settings(pages: bool) -> Iterator[None]:
    """Inside, dask keeps quiet, has its files in a folder that is removed, and has no pages."""
    logging.getLogger("distributed").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="distributed")  # of a machine without other networks
    with tempfile.TemporaryDirectory(prefix="stackcost-") as temporary, ending_signals_raise():
        settings: dict[str, Any] = {
            "temporary-directory": temporary,
            "distributed.worker.http.routes": [],
        }
        if not pages:
            settings["distributed.scheduler.http.routes"] = []
        with dask.config.set(settings):
            yield
