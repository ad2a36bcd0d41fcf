"""Figures of engines with and without the methods that TRex lacks."""

from typing import Any

import pytest

from stackcost.collect.engine import DROPS_METHOD, Engine, EngineTime, engine_time
from stackcost.contracts.sample import Sample
from tests.collect.trex import TrexStandIn

TRAFFIC = {"traffic": {"client": {"tcps_closed": 12, "epoch_name": "x"}, "server": {}}}
NO_PATH_MTU = {"path_mtu": {"accepted": 0, "least": None}}
ANSWERS: dict[str, Any] = {
    "stackcost_get_cpu": {
        "tsc_hz": 2_000_000_000,
        "cores": [
            {
                "core": 0,
                "cpu": 1,
                "total_cycles": 8_000_000_000,
                "busy_cycles": 10**9,
                "copying_cycles": 25 * 10**7,
                "sending_cycles": 5 * 10**8,
            }
        ],
    },
    "stackcost_get_memory": {
        "pools": [{"name": "flow", "object_bytes": 256, "in_use": 1000, "reserved_bytes": 1 << 20}]
    },
    "stackcost_get_schedule": {"intended": 90, "opened": 88, "late": 7, "unsent": 2},
    "stackcost_get_tls": {"templates": [{"client": {"failed": 2}}, {"client": {"failed": 3}}]},
    "stackcost_get_drops": {
        "cores": [
            {"port": 0, "core": 0, "reasons": {"no_buffer": 3, "not_ours": 10}, **NO_PATH_MTU},
            {"port": 1, "core": 0, "reasons": {"no_buffer": 4, "not_ours": 0}, **NO_PATH_MTU},
        ],
        "devices": [{"port": 0, "lost": 5, "refused": 1}, {"port": 1, "lost": 6, "refused": 2}],
    },
}


class Client:
    """Answers as a server with the given extra methods does."""

    def __init__(self, *methods: str):
        self.methods = methods
        self.answers = ANSWERS

    def stats(self) -> dict[str, Any]:
        return TRAFFIC

    def supports(self, method: str) -> bool:
        return method in self.methods

    def call(self, method: str, params: dict[str, Any]) -> Any:
        assert self.supports(method)
        return self.answers[method]


def read(engine: str, client: Client) -> list[Sample]:
    return [*Engine(engine, client).read(), *EngineTime(engine, client).read()]


def by_metric(samples: list[Sample]) -> dict[str, Sample]:
    return {sample.metric: sample for sample in samples}


def test_cycles_become_seconds_and_objects_bytes() -> None:
    found = by_metric(read("peer", Client(*ANSWERS)))
    assert found["trex.counter"].value == 12
    assert found["trex.counter"].labels == {
        "engine": "peer",
        "side": "client",
        "counter": "tcps_closed",
    }
    assert (found["engine.busy_time"].value, found["engine.time"].value) == (0.5, 4.0)
    assert found["engine.copying_time"].value == 0.125
    assert found["engine.sending_time"].value == 0.25
    assert found["engine.busy_time"].labels == {"engine": "peer", "core": "0", "cpu": "1"}
    assert found["engine.pool_in_use"].value == 256_000
    assert found["engine.pool_reserved"].value == 1 << 20


def test_starts_are_reported_by_outcome() -> None:
    samples = read("generator", Client(*ANSWERS))
    starts = {s.labels["outcome"]: s.value for s in samples if s.metric == "engine.starts"}
    assert starts == {"intended": 90, "opened": 88, "late": 7, "unsent": 2}


def test_with_tls_a_generator_reports_beside_trexs_counters_what_failed_there() -> None:
    samples = Engine("generator", Client(*ANSWERS), tls=True).read()
    (failed,) = (s for s in samples if s.labels.get("counter") == "tls_failed")
    (closed,) = (s for s in samples if s.labels.get("counter") == "tcps_closed")
    assert failed.value == 5 and failed.source == "RPC stackcost_get_tls"
    assert failed.labels | {"counter": "tcps_closed"} == closed.labels
    assert failed.time == closed.time, "so that a difference is of one moment"


def test_drops_are_summed_over_cores_by_reason_and_lost_over_devices() -> None:
    samples = [s for s in read("peer", Client(*ANSWERS)) if s.metric == "engine.drops"]
    assert {s.labels["reason"]: s.value for s in samples} == {
        "no_buffer": 7,
        "not_ours": 10,
        "lost": 11,
        "refused": 3,
    }
    assert {s.labels["engine"] for s in samples} == {"peer"} and len(samples) == 4


def test_the_smallest_mtu_of_any_path_is_reported_once_a_router_told_of_one() -> None:
    def paths(*told: tuple[int, int | None]) -> dict[str, float | None]:
        cores = [
            {"reasons": {}, "path_mtu": {"accepted": accepted, "least": least}}
            for accepted, least in told
        ]
        client = Client(DROPS_METHOD)
        client.answers = {DROPS_METHOD: {"cores": cores, "devices": []}}
        return {s.metric: s.value for s in read("peer", client) if "path_mtu" in s.metric}

    assert paths((0, None), (0, None)) == {"engine.path_mtu_messages": 0}
    assert paths((3, 1400), (0, None), (2, 1300)) == {
        "engine.path_mtu_messages": 5,
        "engine.path_mtu": 1300,
    }


def test_trexs_own_account_becomes_seconds_of_its_data_cores() -> None:
    trex, now = TrexStandIn([10, 0]), iter([100.0, 102.0, 103.0])
    collector = engine_time("peer", trex, (2, 3), lambda: next(now))
    collector.read()
    trex.busy = [50, 1]
    samples = collector.read()
    seconds = {(s.metric, s.labels["core"]): s.value for s in samples}
    assert seconds == {
        ("engine.busy_time", "0"): pytest.approx(0.1 * 2 + 0.5),
        ("engine.busy_time", "1"): pytest.approx(0.01),
        ("engine.time", "0"): 3.0,
        ("engine.time", "1"): 3.0,
    }
    assert {s.labels["cpu"] for s in samples} == {"2", "3"}


def test_a_trex_on_one_core_does_not_know_its_own_time() -> None:
    samples = engine_time("generator", TrexStandIn([10]), ()).read()
    assert {s.value for s in samples} == {None}
    assert all("give it three cores or more" in s.reason for s in samples)


def test_what_trex_lacks_is_unknown_not_zero() -> None:
    found = by_metric(read("generator", Client()))
    assert found["trex.counter"].value == 12
    for name in (
        "engine.busy_time",
        "engine.copying_time",
        "engine.sending_time",
        "engine.time",
        "engine.pool_in_use",
        "engine.pool_reserved",
        "engine.starts",
        "engine.drops",
    ):
        assert found[name].value is None
        assert found[name].reason.startswith("this generator has no RPC method stackcost_get_")
