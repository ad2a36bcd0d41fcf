"""Latency histograms between two readings, and with a generator that has none."""

import time
from collections import Counter
from typing import Any

from hdrh.histogram import HdrHistogram

from stackcost.collect.latency import Latency, latency_between, read_latency
from stackcost.contracts.latency import KINDS, TLS_HANDSHAKE
from stackcost.contracts.window import Window
from tests.analysis.trials import encoded


class Client:
    """Answers as the engine does; `times`: by template, of all kinds alike."""

    def __init__(self, *times: list[int], group: str | None = None):
        self.times = list(times)
        self.group = group
        self.handshakes: list[int] = []

    def stats(self) -> dict[str, Any]:
        return {}

    def supports(self, method: str) -> bool:
        return bool(self.times)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        return {
            "unit": "us",
            "templates": [
                {"group": self.group}
                | {kind: {"hdr": encoded(Counter(times))} for kind in KINDS}
                | {
                    TLS_HANDSHAKE: {
                        "count": len(self.handshakes),
                        "hdr": encoded(Counter(self.handshakes)),
                    }
                }
                for times in self.times
            ],
        }


def medians(client: Client, collector: Latency) -> set[float | None]:
    return {s.value for s in collector.read() if s.labels["percentile"] == "p50"}


def test_a_reading_tells_the_times_since_the_one_before() -> None:
    client = Client([100, 100])
    collector = Latency(client)
    assert medians(client, collector) == {100e-6}
    client.times = [[100, 100, 200, 200, 200]]
    assert medians(client, collector) == {200e-6}
    assert collector.read() == []


def test_seconds_of_a_window_are_kept_until_they_are_taken() -> None:
    client = Client([100])
    collector, before = Latency(client), time.monotonic()
    collector.read()
    for times in ([100, 200], [100, 200, 300, 300]):
        client.times = [times]
        collector.read()
    taken = collector.take(Window(before, time.monotonic()))
    counts = [
        HdrHistogram.decode(each.latency[""]["completion"]).get_total_count() for each in taken
    ]
    assert counts == [1, 2] and taken[0].end == taken[1].start
    assert collector.take(Window(before, time.monotonic())) == []


def test_a_new_run_is_no_negative_time() -> None:
    client = Client([100, 100])
    collector = Latency(client)
    collector.read()
    client.times = [[50, 50, 50]]
    assert medians(client, collector) == {50e-6}


def test_templates_of_a_group_are_one() -> None:
    client = Client([10], [20, 20], group="web")
    before, client.times = read_latency(client), [[10, 30], [20, 20]]
    stored = latency_between(before, read_latency(client))
    assert stored is not None
    histogram = HdrHistogram.decode(stored["web"]["completion"])
    assert (histogram.get_total_count(), histogram.get_max_value()) == (1, 30)


def test_handshakes_are_told_of_connections_with_tls_only() -> None:
    client = Client([10])
    before = read_latency(client)
    assert before and tuple(before[""]) == KINDS
    client.handshakes = [20, 30]
    stored = latency_between(before, read_latency(client))
    assert stored and tuple(stored[""]) == ("connect", TLS_HANDSHAKE, "first_byte", "completion")
    assert HdrHistogram.decode(stored[""][TLS_HANDSHAKE]).get_max_value() == 30


def test_trex_is_unknown_not_zero() -> None:
    (sample,) = Latency(Client()).read()
    assert sample.value is None and "stackcost_get_latency" in sample.reason
    assert latency_between(None, read_latency(Client())) is None
