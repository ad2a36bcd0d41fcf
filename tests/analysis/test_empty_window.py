"""A window in which no connection ended has no figure per connection, and says why."""

from stackcost.analysis.readings import Readings
from stackcost.analysis.summary import Level
from stackcost.analysis.trial.checks import checks
from stackcost.analysis.trial.flags import disturbances, failures_of, flags_of
from stackcost.analysis.trial.overload import overload
from stackcost.contracts.load import rate_words
from stackcost.contracts.trial import Trial
from tests.analysis.http_trials import asked, summary
from tests.analysis.trials import counter, hold_trial, load_trial


def without_ends(started: float) -> Trial:
    """The server's core was busy as ever, and of what was started in the window nothing ended."""
    return begun(started, 0.0)


def begun(started: float, ended: float) -> Trial:
    """Of 10,000 connections that a window of 10 s should have, so many began and ended there."""
    trial = load_trial()
    trial.samples = [s for s in trial.samples if s.metric != "trex.counter"]
    for name, grown in (("tcps_connattempt", started), ("tcps_closed", ended), ("tcps_drops", 0.0)):
        labels = {"engine": "generator", "side": "client", "counter": name}
        trial.samples += counter("trex.counter", grown, labels)
    return trial


def level_of(trial: Trial) -> Level:
    (server,) = summary(trial).servers
    (level,) = server.levels
    return level


def unknown(level: Level) -> set[str]:
    """Why figures per connection are unknown; each of them has to be."""
    by_kind = map(level.kinds, ("server_cpu", "softirq", "threads", "hardware", "generator_cpu"))
    per_connection = [level["server_cpu_total"], *(s for kinds in by_kind for s in kinds.values())]
    assert {each.median for each in per_connection} == {None}
    return {each.reason for each in per_connection}


def test_a_window_that_missed_the_load_has_neither_rate_nor_cost() -> None:
    trial = without_ends(started=0.0)
    why = "no connection fell inside the sustain window"
    level = level_of(trial)
    assert level["completed_cps"].median is None and level["completed_cps"].reason == why
    assert unknown(level) == {why}
    assert why in flags_of(Readings(trial, (1,)))
    assert not overload(Readings(trial, (1,))), "nothing is known of the server"
    labels = {"cpu": "0", "vector": "NET_RX"}
    trial.samples += counter("softirq.time", 9.0, labels)  # of another core, for something else
    (receive,) = (each for each in checks(Readings(trial, (1,))) if "receive work" in each.name)
    assert (receive.holds, receive.reason) == (None, why)


def test_a_server_that_completed_nothing_has_a_rate_of_zero_and_no_cost() -> None:
    trial = without_ends(started=10_000.0)
    level = level_of(trial)
    assert level["completed_cps"].median == 0.0
    assert unknown(level) == {"no connection ended in the sustain window"}
    assert "completed 0 connections/s of 1,000 offered" in flags_of(Readings(trial, (1,)))


def test_what_the_generator_did_not_offer_or_nobody_counted_is_no_failure_of_a_server() -> None:
    """ "no connection fell inside the sustain window" stood under "Not served as asked"."""
    missed, slow, fast = (
        Readings(begun(*each), (1,)) for each in ((0, 0), (6e3, 7.4e3), (13e3, 13e3))
    )
    assert disturbances(missed) == ["no connection fell inside the sustain window"]
    assert disturbances(slow) == ["the generator began 600 connections/s of 1,000"]
    assert disturbances(fast) == ["the generator began 1,300 connections/s of 1,000"]
    for seen in (missed, slow, fast):
        assert failures_of(seen) == [] and not overload(seen)
    behind = Readings(begun(6e3, 5e3), (1,))
    assert failures_of(behind) == overload(behind) != []


def test_what_was_not_counted_may_have_been_served() -> None:
    load, hold = load_trial(), hold_trial(2_000, {})
    load.samples = [s for s in load.samples if s.metric != "trex.counter"]
    hold.load.held_flows = None
    words = ("connections of the sustain window were not counted", "held flows were not counted")
    for trial, why in zip((load, hold), words, strict=True):
        assert failures_of(Readings(trial)) == [] and why in flags_of(Readings(trial, (1,)))


def test_an_idle_load_is_shown_with_its_rate() -> None:
    trial = without_ends(started=0.0)
    trial.load.offered_cps = 0.01
    assert level_of(trial).load == "0.01"
    assert [rate_words(rate) for rate in (2.5, 9.0, 10.4, 2900.4)] == ["2.5", "9", "10", "2,900"]


def test_clients_without_an_answer_in_the_window_are_told() -> None:
    trial = asked("wrk", 4, "tps", 0, 1000)
    trial.samples = [s for s in trial.samples if s.metric != "server.requests"]
    trial.samples += counter("server.requests", 0.0, {})
    why = "no request ended in the sustain window"
    assert unknown(level_of(trial)) == {why}
    assert why in flags_of(Readings(trial, (1,)))
