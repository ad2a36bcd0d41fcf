"""Pushes the metrics of a run to a receiver of OpenTelemetry (OTLP over HTTP), once a second.

Headers, compression and the rest are what OpenTelemetry's own variables say. The receiver has to be
on this machine.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client.core import Metric

from stackcost.contracts.errors import StackcostError
from stackcost.live.metrics import Snapshot
from stackcost.live.watch import Watch

TIMEOUT_S = 1.0


@contextmanager
def pushing(watch: Watch, address: str) -> Iterator[None]:
    """Push a watch's metrics to `address` once a second, from a thread of its own.

    A receiver that ends or hangs is passed over. StackcostError unless one answers on this machine.
    """
    _check(address)
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # its words would be on the page
    session = requests.Session()
    session.trust_env = False  # no proxy
    exporter = OTLPMetricExporter(endpoint=address, timeout=TIMEOUT_S, session=session)
    reader = PeriodicExportingMetricReader(exporter, 1000, TIMEOUT_S * 1000)
    resource = Resource.create({"service.name": "stackcost"})
    provider = MeterProvider([reader], resource, shutdown_on_exit=False)
    meter, families = provider.get_meter("stackcost"), _Families(watch)
    for family in families.collect():
        meter.create_observable_gauge(
            _name(family), [families.callback(_name(family))], description=family.documentation
        )
    try:
        yield
    finally:
        provider.shutdown(TIMEOUT_S * 1000)


class _Families:
    """The metrics of one snapshot for all gauges of a push; the first one takes it."""

    def __init__(self, watch: Watch):
        self._snapshot = Snapshot(watch.snapshot)
        self._now: dict[str, Metric] = {}

    def collect(self) -> Iterable[Metric]:
        return self._snapshot.collect()

    def callback(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_: CallbackOptions) -> Iterable[Observation]:
            if not self._now:
                # Its thread: the generator comes first on its core.
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
            if name not in self._now:
                self._now = {_name(family): family for family in self.collect()}
            return [Observation(each.value, each.labels) for each in self._now.pop(name).samples]

        return observe


def _name(family: Metric) -> str:
    """Of its samples (OpenMetrics, section 4.1)."""
    return family.name + ("_info" if family.type == "info" else "")


def _check(address: str) -> None:
    hint = "run a collector on this machine, or: unset OTEL_EXPORTER_OTLP_ENDPOINT"
    try:
        place = urlsplit(address)
        host, port = place.hostname or "", place.port or 80
        here = place.scheme == "http" and (host == "localhost" or ip_address(host).is_loopback)
    except ValueError:  # no address, or no port
        here = False
    if not here:
        raise StackcostError(f"metrics go by HTTP to this machine only, not to {address}", hint)
    try:
        socket.create_connection((host, port), TIMEOUT_S).close()
    except OSError as error:
        raise StackcostError(f"no receiver of metrics is at {address} ({error})", hint) from error
