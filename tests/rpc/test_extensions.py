"""What the engine answers beyond TRex, over its in-memory wire."""

import pytest
from hdrh.histogram import HdrHistogram

from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until
from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES

TIMEOUT_S = 30.0


def run(client: TrexClient, mult: float, duration: float, **tunables: int) -> dict[str, int]:
    """One run of the HTTP profile to its end; the client's counters."""
    client.load_profile(PROFILES / "http_program.py", tunables)
    client.start(mult, duration)
    client.wait_on_traffic(TIMEOUT_S)
    return dict(client.stats()["traffic"]["client"])


def test_latency_histograms_are_read_by_hdrhistogram(client: TrexClient) -> None:
    flows = run(client, 500, 0.5, response_bytes=20_000)["tcps_connects"]
    answer = client.call("stackcost_get_latency", {"profile_id": "_"})
    assert answer["unit"] == "us"
    (template,) = answer["templates"]
    medians = []
    for kind in ("connect", "first_byte", "completion"):
        told = template[kind]
        histogram = HdrHistogram.decode(told["hdr"])
        assert histogram.get_total_count() == told["count"] == flows > 100
        assert histogram.get_max_value() == pytest.approx(told["max"], rel=0.01)
        assert histogram.get_mean_value() == pytest.approx(told["sum"] / flows, rel=0.01, abs=1)
        medians.append(histogram.get_value_at_percentile(50))
    assert medians == sorted(medians)
    assert 0 < medians[-1] < 1e6


def test_both_sides_of_an_answer_are_of_one_moment(client: TrexClient) -> None:
    descriptors = client.call("get_counter_desc", {"profile_id": "_"})["data"]
    number = {entry["name"]: str(entry["id"]) for entry in descriptors}
    client.load_profile(PROFILES / "http_program.py", {"response_bytes": 1000})
    client.start(2000)
    opened = 0
    try:
        for reading in range(100_000):
            answer = client.call("get_counter_values", {"profile_id": "_"})
            one, other = answer["client"], answer["server"]
            opened = one.get(number["tcps_connattempt"], 0)
            assert other.get(number["tcps_accepts"], 0) <= opened, reading
            received = one.get(number["tcps_rcvbyte"], 0)
            assert received <= other.get(number["tcps_sndbyte"], 0), reading
            if reading > 1000 and opened > 1000:
                break
    finally:
        client.stop()
    assert opened > 1000


def test_held_flows_are_replaced_as_they_close(client: TrexClient) -> None:
    client.load_profile(PROFILES / "http_program.py", {"cps": 0.01, "response_bytes": 1000})
    client.start(1)
    client.call("stackcost_hold_flows", {"profile_id": "_", "flows": 300})
    held: dict[str, int] = {}

    def replaced() -> bool:
        held.update(client.call("stackcost_get_held_flows", {"profile_id": "_"}))
        return held["open"] >= 300 and held["opened"] > 600

    assert wait_until(replaced, TIMEOUT_S, 0.05), held
    assert held["wanted"] == 300 and held["refused"] == 0
    client.stop()
    with pytest.raises(StackcostError, match="Invalid state"):
        client.call("stackcost_hold_flows", {"profile_id": "_", "flows": 300})


def test_drops_of_a_clean_run_are_all_zero(client: TrexClient) -> None:
    before = client.call("stackcost_get_drops", {})
    run(client, 200, 0.5, response_bytes=1000)
    after = client.call("stackcost_get_drops", {})
    assert {(entry["port"], entry["core"]) for entry in after["cores"]} == {(0, 0), (1, 0)}
    for now, then in zip(after["cores"], before["cores"], strict=True):
        changed = {r: n for r, n in now["reasons"].items() if n != then["reasons"][r]}
        assert changed.keys() <= {"unknown_protocol"}, changed
    assert [device["lost"] for device in after["devices"]] == [0, 0]
    assert [device["refused"] for device in after["devices"]] == [0, 0]
