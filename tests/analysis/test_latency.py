from collections import Counter

from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.figures.latency import LATENCY, UNKNOWN_REASON
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread
from stackcost.analysis.summarise import summarise
from stackcost.contracts.trial import Trial
from stackcost.report.tables import latency_table
from tests.analysis.http_trials import asked
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import counter, encoded, load_trial


def trial(*microseconds: int) -> Trial:
    made, text = load_trial(), encoded(Counter(microseconds))
    made.load.latency = {"web": {"connect": text, "first_byte": text, "completion": text}}
    return made


def percentiles(*trials: Trial) -> dict[str, Spread]:
    return LATENCY.spreads(LoadTrials([Readings(each) for each in trials], CONTEXT))


def test_every_round_has_its_own_percentile() -> None:
    found = percentiles(trial(100, 100, 100), trial(120, 120, 240))
    assert found["latency.web.completion.p50"].values == [100, 120]
    assert found["latency.web.completion.max"].values == [100, 240]
    assert found["latency.web.completion.p50"].unit == "us"


def many(*counts: int) -> Trial:
    """A trial of 100 us, 200 us and so on, as many of each."""
    made = load_trial()
    times = {100 * place: count for place, count in enumerate(counts, 1)}
    made.load.latency = {"": {"completion": encoded(times)}}
    return made


def test_the_tail_is_told_of_trials_with_ten_connections_beyond_it_and_else_why_not() -> None:
    few, enough = many(99_979, 20), many(99_980, 20)
    found = percentiles(few)
    assert found["latency.completion.p99.99"].median is None
    why = "fewer than 100,000 connections in a trial, 10 beyond it"
    assert found["latency.completion.p99.99"].reason == why
    assert found["latency.completion.p99.9"].values == [100]
    both = percentiles(few, enough)["latency.completion.p99.99"]
    assert both.values == [200]  # of the second round alone
    table = latency_table(summarise([enough], CONTEXT))
    assert table.columns[-3:] == ("p99.99", "p99.999", "max")
    assert table.rows[0][-3:] == ("200", "n/a", "200")
    assert "p99.999 is missing in some rows: fewer than 1,000,000 connections" in table.title
    assert "p99.99 of some rows" not in table.title
    assert percentiles(many(999_985, 15))["latency.completion.p99.999"].values == [200]


def test_ab_tells_no_percentile_of_the_tail_of_whole_connections() -> None:
    for program, told in (("ab", None), ("wrk", 100)):
        made = asked(program, 10, "tps", 0.0, 1.0)
        made.load.latency = {"": {"connection": encoded({100: 2_000_000})}}
        found = percentiles(made)["latency.connection.p99.99"]
        assert found.median == told and found.reason.startswith("ab tells") == (told is None)


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
    assert rows["nginx/kernel"][2:] == (
        "web: completion",
        *timed,
        *("100",) * 4,
        "n/a",
        "n/a",
        "100",
    )
    assert rows["astf-peer"][3:] == ("n/a",) * 8


def test_with_tcp_as_published_the_table_says_that_nagle_is_in_it() -> None:
    today = summarise([trial(100)], CONTEXT)
    published = latency_table(today.model_copy(update={"tcp": "published"}))
    assert "may wait for a delayed ACK of 100 ms (Nagle)" in published.title
    assert "Nagle" not in latency_table(today).title
