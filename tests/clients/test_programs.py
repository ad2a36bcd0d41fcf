"""What each client program prints, and what is made of it; the programs themselves: test_on_bed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from stackcost.clients.ab import ApacheBench
from stackcost.clients.clients import counts_of, latency_of
from stackcost.clients.h2load import H2load
from stackcost.clients.http3 import Http3Client
from stackcost.clients.program import INTENDED, REQUEST, LoadRequest, LoadResult
from stackcost.clients.times import Times, encoded
from stackcost.clients.wrk import Wrk

ASK = LoadRequest("http://48.0.0.1:80", ("/1000.bin",), connections=50, kept=False, seconds=3)
SUMMARY = """
requests: {n} total, {n} started, {n} done, {n} succeeded, 0 failed, 0 errored, 0 timeout
status codes: {n} 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 1.00MB (1000000) total, 1KB (1000) headers (space savings 0.00%), 1KB (1000) data
                     min         max         mean         sd        +/- sd
time for request:       68us      4.51ms       342us       313us    96.75%
time for connect:       41us      1.28s        1.5ms        68us    80.00%
time to 1st byte:      377us       627us       484us        70us    80.00%
"""


def test_wrk_counts_and_every_time(tmp_path: Path) -> None:
    printed = (
        "Running 3s test\nstackcost 3000000 300 90000 connect=2 read=0 write=0 status=5 timeout=1\n"
        "time 100 200\ntime 5000 100\n"
    )
    told = Wrk().read(ASK, tmp_path, printed)
    assert (told.seconds, told.requests, told.received) == (3.0, 295, 90_000)
    assert told.failed == {"connect": 2, "status": 5, "timeout": 1}
    assert dict(zip(told.times[REQUEST].microseconds, told.times[REQUEST].counts, strict=True)) == {
        100: 200,
        5000: 100,
    }


def test_wrk_that_said_nothing_usual_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unable to connect"):
        Wrk().read(ASK, tmp_path, "unable to connect to 48.0.0.1:80 Connection refused")


def test_ab_percentiles_stand_for_as_many_requests(tmp_path: Path) -> None:
    rows = [*(f"{at},{1.0 if at < 99 else 20.0}" for at in range(100)), "100,50.0"]
    (tmp_path / "percentiles.csv").write_text("Percentage served,Time in ms\n" + "\n".join(rows))
    printed = (
        "Time taken for tests:   3.000 seconds\nComplete requests:      1000\n"
        "Failed requests:        3\n   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)\n"
        "Total transferred:      11595000 bytes\n"
    )
    told = ApacheBench().read(ASK, tmp_path, printed)
    assert (told.requests, told.failed, told.received) == (997, {"length": 3}, 11_595_000)
    times = told.times["connection"]
    assert times.counts.sum() == 1000 and times.microseconds.max() == 50_000
    histogram = HdrHistogram.decode(encoded([times]))
    assert histogram.get_value_at_percentile(97) == pytest.approx(1000, rel=0.02)
    assert histogram.get_value_at_percentile(99.5) == pytest.approx(50_000, rel=0.02)


def test_ab_lists_each_requests_time_to_connect_and_to_the_first_byte(tmp_path: Path) -> None:
    (tmp_path / "percentiles.csv").write_text("Percentage served,Time in ms\n0,1.0\n100,9.0\n")
    (tmp_path / "requests.tsv").write_text(
        "starttime\tseconds\tctime\tdtime\tttime\twait\n"
        "Tue Nov 24 17:00:00 2026\t1795539600\t3\t6\t9\t5\n"
        "Tue Nov 24 17:00:00 2026\t1795539600\t1\t4\t5\t2\n"
    )
    printed = (
        "Time taken for tests:   3.000 seconds\nComplete requests:      2\n"
        "Total transferred:      200 bytes\n"
    )
    told = ApacheBench().read(ASK, tmp_path, printed)
    assert told.times["connect"].microseconds.tolist() == [3000, 1000]
    assert told.times["first_byte"].microseconds.tolist() == [5000, 2000]


def at_rate(tmp_path: Path, starts_us: list[int], took_us: int, rate: float) -> LoadResult:
    lines = (f"{1_700_000_000_000_000 + start}\t200\t{took_us}\n" for start in starts_us)
    (tmp_path / "requests.tsv").write_text("".join(lines))
    request = LoadRequest(ASK.url, ASK.paths, 1, kept=True, seconds=2, rate=rate)
    return H2load().read(request, tmp_path, SUMMARY.format(n=len(starts_us)))


def test_a_request_sent_late_has_waited_since_its_intended_start(tmp_path: Path) -> None:
    """10 a second for two seconds; the server stalls from 0.5 to 1.5 s, then they come at once."""
    due = [at * 100_000 for at in range(20)]
    sent = [max(at, 1_500_000) if 500_000 <= at < 1_500_000 else at for at in due]
    told = at_rate(tmp_path, sent, 1000, rate=10)
    assert told.unsent == 0 and told.times[REQUEST].microseconds.max() == 1000
    waited = np.sort(told.times[INTENDED].microseconds)
    assert waited[-1] == 1_001_000 and (waited > 100_000).sum() == 10


def test_what_was_due_and_never_answered_has_waited_until_the_end(tmp_path: Path) -> None:
    told = at_rate(tmp_path, [0, 100_000, 200_000], 1000, rate=10)
    assert told.unsent == 17 and told.means == {"connect": 1500.0, "1st byte": 484.0}
    assert told.times[INTENDED].microseconds.max() == 2_000_000 - 300_000


@pytest.mark.filterwarnings("error")
def test_that_nothing_was_answered_is_a_result(tmp_path: Path) -> None:
    told = at_rate(tmp_path, [], 1000, rate=10)
    assert told.unsent == 20 and not told.times and told.seconds == 2


@pytest.mark.parametrize("rate", [333, 1000, 1500, 7777, 20_000])
def test_connections_are_opened_in_bursts_of_whole_milliseconds(tmp_path: Path, rate: int) -> None:
    request = LoadRequest(ASK.url, ASK.paths, 1, kept=False, seconds=2, rate=rate)
    command = H2load().command(request, tmp_path)
    each, count, period = (
        int(next(o for o in command if o.startswith(name)).removeprefix(name).removesuffix("ms"))
        for name in ("-r", "-n", "--rate-period=")
    )
    assert each * 1000 / period == pytest.approx(rate, rel=0.005)
    assert count == 2 * rate


def test_h2load_counts_each_request_that_failed_once(tmp_path: Path) -> None:
    """As nghttp2 1.52 prints them: failed has errors, time limits and statuses from 400 on."""
    (tmp_path / "requests.tsv").write_text("1000\t200\t10\n")
    printed = SUMMARY.format(n=20).replace(
        "20 succeeded, 0 failed, 0 errored, 0 timeout",
        "6 succeeded, 14 failed, 2 errored, 1 timeout",
    )
    printed = printed.replace("20 2xx, 0 3xx, 0 4xx, 0 5xx", "5 2xx, 1 3xx, 8 4xx, 3 5xx")
    told = H2load().read(ASK, tmp_path, printed)
    assert told.failed == {"status": 12, "errored": 2, "timeout": 1}


def test_h2load_is_told_the_version_and_the_streams(tmp_path: Path) -> None:
    request = LoadRequest("https://48.0.0.1:443", ("/1",), 4, True, 2, version="2", streams=7)
    command = H2load().command(request, tmp_path)
    assert "-m7" in command and "--h1" not in command
    assert "--h1" in H2load().command(replace(request, version="1.1", streams=1), tmp_path)


def h3_log(tmp_path: Path, *rows: tuple[int, int, int, int, int]) -> None:
    lines = ("\t".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "requests.tsv").write_text("".join(lines))


def test_a_client_of_http_3_counts_what_was_answered_and_times_it_from_when_it_was_due(
    tmp_path: Path,
) -> None:
    h3_log(
        tmp_path,
        (0, 10, 1000, 200, 1000),
        (500_000, 900_000, 901_000, 200, 1000),  # sent late
        (1_000_000, 1_000_000, 1_001_000, 404, 9),
        (1_100_000, 1_100_000, -1, -1, 0),  # its connection ended
        (1_500_000, 1_500_000, -1, 200, 10),  # under way at the end
        (1_900_000, -1, -1, 0, 0),  # never sent
    )
    request = replace(ASK, version="3", kept=True, seconds=2, rate=2.0)
    told = Http3Client().read(request, tmp_path, "")
    assert (told.requests, told.received, told.unsent) == (2, 2000, 1)
    assert told.failed == {"status": 1, "connection": 1}
    waited = np.sort(told.times[INTENDED].microseconds)
    assert list(waited) == [1000, 100_000, 401_000, 500_000, 900_000, 1_000_000]


def test_without_a_rate_it_times_what_was_answered_from_when_it_was_sent(tmp_path: Path) -> None:
    h3_log(tmp_path, (5, 10, 1010, 200, 1000), (1010, 1010, -1, 0, 0))
    told = Http3Client().read(replace(ASK, version="3", kept=True, seconds=2), tmp_path, "")
    assert told.times[REQUEST].microseconds.tolist() == [1000] and not told.failed


def test_several_clients_are_summed_and_their_times_merged() -> None:
    fast = LoadResult(2.0, 200, 2000, {}, {REQUEST: Times(np.array([100]), np.array([200]))})
    slow = LoadResult(
        2.0, 100, 1000, {"read": 1}, {REQUEST: Times(np.array([900]), np.array([100]))}
    )
    together = counts_of([fast, slow], "", {})
    assert (together.rate, together.requests, together.failed) == (150, 300, {"read": 1})
    assert together.bits_per_second == 12_000
    histogram = HdrHistogram.decode(latency_of([fast, slow])[REQUEST])
    assert histogram.get_total_count() == 300
    assert fast.times[REQUEST].share_above(99) == 1 and slow.times[REQUEST].percentile(50) == 900
    assert histogram.get_value_at_percentile(60) == pytest.approx(100, rel=0.02)
    assert histogram.get_value_at_percentile(70) == pytest.approx(900, rel=0.02)
