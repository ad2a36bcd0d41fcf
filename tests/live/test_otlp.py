"""What is pushed to a receiver of OpenTelemetry: the same as a scrape of /metrics has."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from rich.console import Console

from stackcost.cli.live import shown_live
from stackcost.contracts.errors import StackcostError
from stackcost.live.metrics import exposition
from stackcost.live.otlp import pushing
from tests.analysis.trials import load_trial
from tests.live.test_readings import counters, sample
from tests.live.test_server import MEMORY, Made

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@contextmanager
def receiving() -> Iterator[tuple[str, "queue.Queue[Values]"]]:
    """A receiver of OTLP over HTTP, and what comes."""
    came: queue.Queue[Values] = queue.Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/metrics"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.put(values_of(ExportMetricsServiceRequest.FromString(body)))
            answer = ExportMetricsServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", came
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def values_of(pushed: ExportMetricsServiceRequest) -> Values:
    return {
        (
            metric.name,
            tuple(sorted((key.key, key.value.string_value) for key in point.attributes)),
        ): (point.as_double or float(point.as_int))
        for resource in pushed.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.gauge.data_points
    }


def test_a_receiver_gets_what_a_scrape_has_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made()
    made.add(counters(1.0, tcps_closed=0))
    made.watch.read()
    made.add(counters(2.0, tcps_closed=700))
    made.add([sample(1.0, "slab.bytes", 4096.0, cache="TCP")], MEMORY)
    made.watch.read()
    made.watch.stored(load_trial(), made.session)
    before = threading.active_count()
    with receiving() as (address, came):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        with pushing(made.watch, f"{address}/v1/metrics"):
            first = came.get(timeout=5)
            made.readings.clear()
            made.watch.opened(made.session)  # nothing is known again
            second = came.get(timeout=5)
    text = exposition(made.watch.snapshot).decode()
    scraped = {
        (each.name, tuple(sorted(each.labels.items()))): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }
    assert second == scraped, "what is no longer known is no longer pushed"
    gone = {name for name, _ in first.keys() - second.keys()}
    assert gone == {"stackcost_slab_bytes", "stackcost_connections_completed_per_second"} | {
        "stackcost_connections_attempted_per_second"
    }
    assert threading.active_count() == before, "no thread is left"


def test_it_is_pushed_where_opentelemetrys_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as (address, came):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{address}/")
        with shown_live(0, Console(quiet=True)):
            pass
        assert ("stackcost_trials", ()) in came.get(timeout=5), "the last push is at the end"


@pytest.mark.parametrize("address", ["http://192.0.2.1:4318", "http://127.0.0.1:9", "grpc://::1"])
def test_a_receiver_elsewhere_or_none_at_all_is_an_error_with_a_way_out(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    with pytest.raises(StackcostError) as caught, shown_live(0, Console(quiet=True)):
        pass
    assert "unset OTEL_EXPORTER_OTLP_ENDPOINT" in (caught.value.hint or "")
