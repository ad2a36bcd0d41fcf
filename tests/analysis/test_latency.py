from hdrh.histogram import HdrHistogram

from stackcost.analysis.figures.groups import Loads
from stackcost.analysis.figures.latency import LATENCY, UNKNOWN_REASON
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread
from stackcost.analysis.summarise import summarise
from stackcost.contracts.trial import Trial
from stackcost.report.tables import latency_table
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import counter, load_trial


def trial(*microseconds: int) -> Trial:
    histogram = HdrHistogram(1, 2**32 - 1, 2)
    for value in microseconds:
        histogram.record_value(value)
    made = load_trial()
    text = histogram.encode().decode()
    made.load.latency = {"web": {"connect": text, "first_byte": text, "completion": text}}
    return made


def percentiles(*trials: Trial) -> dict[str, Spread]:
    return LATENCY.spreads(Loads([Readings(each) for each in trials], CONTEXT))


def test_every_round_has_its_own_percentile() -> None:
    found = percentiles(trial(100, 100, 100), trial(120, 120, 240))
    assert found["latency.web.completion.p50"].values == [100, 120]
    assert found["latency.web.completion.max"].values == [100, 240]
    assert found["latency.web.completion.p50"].unit == "us"


def test_without_histograms_it_is_unknown_with_a_reason() -> None:
    silent = load_trial()
    silent.load.latency = None
    found = percentiles(silent)["latency.connect.p99"]
    assert (found.median, found.reason) == (None, UNKNOWN_REASON)


def test_the_table_shows_known_and_unknown() -> None:
    one, other = trial(100), load_trial("astf-peer", 2)
    labels = {"engine": "generator", "side": "client", "counter": "tcps_connattempt"}
    one.samples += counter("trex.counter", 10_000, labels)
    table = latency_table(summarise([one, other], CONTEXT))
    one.load.begun = 5
    told_with_the_times = latency_table(summarise([one], CONTEXT)).rows[0][3]
    assert told_with_the_times == "1 of 5"
    assert (
        summarise([one], CONTEXT).servers[0].levels[0].latency["web"]["first_byte"]["p99.9"].values
    )
    rows = {row[0]: row for row in table.rows if row[2].endswith("completion")}
    timed = ("1 of 10,000",)  # the others did not complete, or were not timed
    assert rows["nginx/kernel"][2:] == ("web: completion", *timed, *("100",) * 5)
    assert rows["astf-peer"][3:] == ("n/a",) * 6


def test_with_tcp_as_published_the_table_says_that_nagle_is_in_it() -> None:
    today = summarise([trial(100)], CONTEXT)
    published = latency_table(today.model_copy(update={"tcp": "published"}))
    assert "may wait for a delayed ACK of 100 ms (Nagle)" in published.title
    assert "Nagle" not in latency_table(today).title
