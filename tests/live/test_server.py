"""The page, its events and its metrics over real sockets, with well-behaved and hostile clients."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from stackcost.analysis.cost.cpu import server_total
from stackcost.analysis.readings import Readings
from stackcost.contracts.collector import Collector, Reading
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import SLAB_BYTES, SOFTNET_DROPPED, TREX_COUNTER
from stackcost.contracts.sample import Metric, Sample
from stackcost.runs.live.server import MOST_PAGES, serving
from stackcost.runs.live.watch import Watch
from stackcost.session.progress import Progress
from tests.analysis.trials import hold_trial, load_trial
from tests.live.test_rates import counters, sample


class Of(Collector):
    """A collector of these metrics. It is never read: a test says what it has read."""

    def __init__(self, *metrics: Metric):
        self.metrics = metrics

    def read(self) -> list[Sample]:
        raise NotImplementedError


GENERATOR, MEMORY, NETWORK = Of(TREX_COUNTER), Of(SLAB_BYTES), Of(SOFTNET_DROPPED)
ANOTHER_HOST = None


class Made:
    """A watch of a run of made-up readings, and the address of its page."""

    def __init__(self) -> None:
        self.watch, self.readings, self.progress = Watch(), list[Reading](), Progress()
        cores = SimpleNamespace(server=[1])
        self.session: Any = SimpleNamespace(
            sampler=SimpleNamespace(readings=self.readings),
            experiment=SimpleNamespace(cores=cores),
        )
        folder: Any = SimpleNamespace(name="run-1")
        self.watch.begins(folder, "What does a connection cost?", self.progress)
        self.watch.opened(self.session)
        self.address = ""

    def add(self, samples: list[Sample], by: Collector | None = GENERATOR) -> None:
        self.readings.append(Reading(by, samples))

    def get(self, path: str, host: str = "") -> tuple[int, dict[str, str], bytes]:
        place = urlsplit(self.address)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=5)
        connection.request("GET", path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, headers, answer.read()

    def connected(self) -> socket.socket:
        place = urlsplit(self.address)
        return socket.create_connection((place.hostname, place.port), timeout=5)

    def events(self) -> socket.socket:
        one = self.connected()
        one.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        return one


@pytest.fixture
def made() -> Iterator[Made]:
    one = Made()
    with serving(one.watch, 0) as one.address:
        yield one


def states(of: socket.socket) -> Iterator[dict[str, Any]]:
    for line in of.makefile("rb"):
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def test_a_page_gets_the_state_at_once_and_then_each_second(made: Made) -> None:
    made.add(counters(1.0, tcps_closed=0))
    made.watch.read()
    with made.events() as page:
        seen = states(page)
        first = next(seen)
        assert (first["run"], first["title"]) == ("run-1", "What does a connection cost?")
        made.progress.expect([10])
        with made.progress.turn("round 1 of 1, x", "x", 5):
            made.add(counters(2.0, tcps_closed=700))
            found = next(state for state in seen if state["second"]["completed"])
    assert found["now"]["turn"] == "round 1 of 1, x" and found["now"]["left_s"] > 5
    assert [point["completed"] for point in found["points"]] == [None, 700.0]


def test_a_trial_begins_with_nothing_of_the_one_before(made: Made) -> None:
    for at, closed in ((1.0, 0), (2.0, 700)):
        made.add(counters(at, tcps_closed=closed))
        made.watch.read()
    assert made.watch.snapshot()["second"]["completed"] == 700
    made.add(counters(3.0, tcps_closed=800))  # after the last reading
    made.watch.offered(load_trial())
    made.add(counters(9.0, tcps_closed=800))
    made.watch.read()
    assert made.watch.snapshot()["second"]["completed"] is None


@pytest.mark.parametrize("memory_by", [MEMORY, ANOTHER_HOST])
def test_the_first_and_the_last_reading_of_what_is_shown_are_taken_in(
    made: Made, memory_by: Collector | None
) -> None:
    made.watch.offered(load_trial())
    for at, closed in ((1.0, 0), (1.5, 900), (3.0, 2000)):  # a short trial, between two ticks
        made.add([sample(at, "slab.bytes", at, cache="TCP")], memory_by)
        made.add(counters(at, tcps_closed=closed))
        made.add(counters(at, tcps_closed=9e9), NETWORK)  # none of what it reads is shown
    made.watch.read()
    second = made.watch.snapshot()["second"]
    assert second["completed"] == 1000 and second["slab"] == {"TCP": 3.0}


def test_costs_and_flags_come_with_stored_trials(made: Made) -> None:
    trial = load_trial()
    trial.load.client |= {"tcps_sndrexmitpack": 5}
    made.watch.stored(trial, made.session)
    made.watch.stored(hold_trial(100, {"slab.bytes": 1.0}), made.session)
    shown = made.watch.snapshot()
    (cost,) = shown["costs"]
    assert cost["us"] == pytest.approx(100) and cost["trials"] == 1
    assert any("5 segments retransmitted" in flag for flag in shown["flags"])


def test_what_a_peer_takes_is_shown_as_in_the_answer(made: Made) -> None:
    """The page said 102 us, and the answer 138: the kernel's work beside a polling peer."""
    trial = load_trial("astf-peer", microseconds={"busy": 60, "softirq": 20})
    made.watch.stored(trial, made.session)
    (cost,) = made.watch.snapshot()["costs"]
    seen = Readings(trial, made.session.experiment.cores.server)
    assert cost["us"] == server_total(seen) == pytest.approx(80)


def test_a_repeated_trial_counts_once(made: Made) -> None:
    for _ in range(2):  # the first is set aside when the second is stored
        made.watch.stored(load_trial(), made.session)
    other = load_trial()
    other.round += 1
    made.watch.stored(other, made.session)
    (cost,) = made.watch.snapshot()["costs"]
    assert cost["trials"] == 2


def test_metrics_are_openmetrics_with_their_units(made: Made) -> None:
    made.add(counters(1.0, tcps_closed=0))
    made.add([sample(1.0, "slab.bytes", 4096.0, cache="TCP")], MEMORY)
    made.watch.read()
    made.watch.stored(load_trial(), made.session)
    status, headers, body = made.get("/metrics")
    assert status == 200 and headers["content-type"].startswith("application/openmetrics-text")
    found = {each.name: each for each in text_string_to_metric_families(body.decode())}
    (slab,) = found["stackcost_slab_bytes"].samples
    assert slab.labels == {"cache": "TCP"} and slab.value == 4096
    (cost,) = found["stackcost_server_cpu_seconds"].samples
    assert cost.value == pytest.approx(100e-6) and cost.labels["system"] == "nginx/kernel"
    busy = found["stackcost_core_busy_seconds_per_connection"]
    assert "busy with anything" in busy.documentation, "not the figure of the trials"
    assert not found["stackcost_connections_offered_per_second"].samples, "unknown has no sample"


def test_the_page_takes_nothing_from_elsewhere(made: Made) -> None:
    for path in ("/", "/page.js", "/page.css"):
        status, headers, body = made.get(path)
        assert status == 200 and b"http://" not in body.replace(b"http://www.w3.org/", b"")
        assert "default-src 'none'" in headers["content-security-policy"]
    assert made.get("/", host="evil.example")[0] == 403, "DNS rebinding"
    assert made.get("/../watch.py")[0] == 404


def test_clients_that_hang_vanish_or_shout_change_nothing(made: Made) -> None:
    silent = [made.connected() for _ in range(20)]
    slow = [made.events() for _ in range(MOST_PAGES)]  # they never read
    gone = made.connected()
    gone.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    gone.close()
    with made.connected() as loud:
        loud.sendall(b"\xff" * 40_000)
    made.watch._flags.extend("x" * 100_000 for _ in range(30))  # states of 3 MB
    end = time.monotonic() + 3
    while time.monotonic() < end:
        assert made.get("/page.css")[0] == 200
        time.sleep(0.2)
    with made.events() as more:
        assert b" 503 " in more.recv(100), "as many pages as there may be"
    for one in [*silent, *slow]:
        one.close()


def test_nothing_is_left_when_the_run_is_over() -> None:
    one = Made()
    before = threading.active_count()
    with serving(one.watch, 0) as one.address, one.events() as page:
        next(states(page))
        port = urlsplit(one.address).port
    assert threading.active_count() == before
    with serving(one.watch, port or 0):
        pass  # the port is free again


def test_a_taken_port_is_an_error_with_a_way_out(made: Made) -> None:
    port = urlsplit(made.address).port or 0
    with pytest.raises(StackcostError, match=f"port {port}") as caught, serving(made.watch, port):
        pass
    assert "--live 0" in (caught.value.hint or "")


def test_its_files_are_in_the_package() -> None:
    here = Path(__file__).resolve().parents[2] / "harness" / "stackcost" / "runs" / "live"
    assert {"page.html", "page.css", "page.js"} <= {path.name for path in here.iterdir()}
