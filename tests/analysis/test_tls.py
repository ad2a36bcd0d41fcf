"""TLS: failures that TCP does not see, waits, and whether a load had what it asked for."""

import pytest

from stackcost.analysis.cost.cpu import server_total, why_no_cost
from stackcost.analysis.cost.flows import completed_in
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.checks import checks
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.latency import TLS_HANDSHAKE
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.metrics import TREX_COUNTER
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.tls import STEPS, TlsCounts, TlsSettings
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from tests.analysis.trials import START, client_counters, counter, encoded, load_trial

NOT_WAITED = dict.fromkeys(STEPS, 0)
SIDE = {"handshakes_full": 3, "failed": 2, "alerts_received": {"handshake failure": 2}}


def test_they_are_failed_connections_with_the_alerts_as_the_reason() -> None:
    trial = load_trial()
    load = trial.load_of(ConstantLoad)
    load.client = client_counters(10_000, 0)
    assert (load.completed, load.failed) == (10_000, 0)
    sides = (SIDE, SIDE | {"ended_in_handshake": 1})
    told = {"templates": [{"client": side, "server": NOT_WAITED} for side in sides]}
    load.tls = TlsCounts.of(TlsSettings(version="1.3"), told)
    assert (load.tls.handshakes_full, load.completed, load.failed) == (6, 9_996, 4)
    flags = flags_of(Readings(trial, (1,)))
    assert "4 of 10,000 connections failed" in flags
    reasons = "alert 'handshake failure' received (4), closed by the peer in the handshake (1)"
    assert f"4 connections failed in TLS: {reasons}" in flags


def test_in_a_window_they_are_not_completed_either() -> None:
    trial = load_trial(completed=10_000)  # 100 us each
    trial.load_of(ConstantLoad).tls = TlsCounts(TlsSettings(), failed=6_000)
    labels = {"engine": "generator", "side": "client", "counter": "tls_failed"}
    trial.samples += counter("trex.counter", 6_000, labels)
    found = Readings(trial, (1,))
    assert completed_in(found) == 4_000
    assert server_total(found) == pytest.approx(250)


@pytest.mark.parametrize("more", [0.0, 10.0])
def test_where_all_fail_none_completed_and_that_is_the_reason(more: float) -> None:
    """Failures lead the closes by as many as are closing: the difference was taken for a counter
    that was reset.
    """
    trial = load_trial()
    trial.load_of(ConstantLoad).tls = TlsCounts(TlsSettings(), failed=10_500)
    trial.samples = [each for each in trial.samples if each.metric != "trex.counter"]
    for name, ahead, rate in (("tcps_closed", 0, 1000.0), ("tls_failed", 500, 1000.0 + more)):
        labels = {"engine": "generator", "side": "client", "counter": name}
        for second in range(11):
            value = rate * second + ahead
            trial.samples.append(TREX_COUNTER.sample(START + second + 0.01, value, **labels))
    found = Readings(trial, (1,))
    assert completed_in(found) == 0 and server_total(found) is None
    assert why_no_cost(found) == "no connection ended in the sustain window"


@pytest.mark.parametrize("reset", ["tcps_closed", "tls_failed"])
def test_a_counter_that_was_reset_in_a_window_leaves_its_connections_unknown(reset: str) -> None:
    """A reset of the failures was taken for connections that completed."""
    trial = load_trial()
    trial.load_of(ConstantLoad).tls = TlsCounts(TlsSettings(), failed=6_000)
    trial.samples = [each for each in trial.samples if each.metric != "trex.counter"]
    for name, rate in (("tcps_closed", 1000.0), ("tls_failed", 600.0)):
        labels = {"engine": "generator", "side": "client", "counter": name}
        for second in range(11):
            since = second - 6 if name == reset and second >= 6 else second
            trial.samples.append(TREX_COUNTER.sample(START + second, rate * since, **labels))
    found = Readings(trial, (1,))
    assert completed_in(found) is None
    assert "in the sustain window is not known: a counter was reset" in why_no_cost(found)


def test_failures_of_an_unknown_time_leave_a_window_without_a_cost() -> None:
    trial = load_trial()
    trial.load_of(ConstantLoad).tls = TlsCounts(TlsSettings(), failed=1)
    found = Readings(trial, (1,))
    assert completed_in(found) is None and server_total(found) is None
    reason = "when connections failed in TLS was not read, only that 1 did in the whole trial"
    assert why_no_cost(found) == reason
    trial.load_of(ConstantLoad).tls = TlsCounts(TlsSettings())
    assert completed_in(Readings(trial, (1,))) == 10_000


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"not_tls": 6}, "the server does not speak TLS on this port (6)"),
        ({"without_alpn": 6}, "the server chose no protocol by ALPN (6)"),
        ({}, "the generator knows no reason"),
    ],
)
def test_a_failure_without_an_alert_has_a_reason(counts: dict[str, int], reason: str) -> None:
    tls = TlsCounts(TlsSettings(), failed=6, **counts)
    assert tls.failures == f"6 connections failed in TLS: {reason}"


def test_sni_is_a_dns_name() -> None:
    for good in ("", "engine.test", "a" * 63 + ".test"):
        assert TlsSettings(sni=good).sni == good
    for bad in ("a,dirName:b", "10.0.0.1", "a..b", "a" * 64, "a." * 126 + "ab"):
        with pytest.raises(ValueError, match="is no DNS name"):
            TlsSettings(sni=bad)


def test_what_the_generator_lacked_for_tls_is_a_doubt() -> None:
    trial = load_trial()
    trial.load_of(ConstantLoad).tls = TlsCounts(TlsSettings(), lacked_memory=7, cut_segments=8)
    flags = flags_of(Readings(trial, (1,)))
    assert "the generator's memory for TLS was used up 7 times" in flags
    assert "the generator's port cut 8 segments, which came again" in flags


@pytest.mark.parametrize(("waited_us", "said"), [(240, []), (400, ["waited 400 us of their 1,0"])])
def test_handshakes_that_waited_long_for_either_side_of_the_generator_are_a_doubt(
    waited_us: int, said: list[str]
) -> None:
    trial = load_trial()
    load = trial.load_of(ConstantLoad)
    load.latency = {"": {"connect": encoded({100: 1000}), TLS_HANDSHAKE: encoded({1100: 1000})}}
    half = NOT_WAITED | {"waited_us": 500 * waited_us}
    told = {"templates": [{"client": half | {"handshakes_full": 1000}, "server": half}]}
    load.tls = TlsCounts.of(TlsSettings(), told)
    flags = [flag for flag in flags_of(Readings(trial, (1,))) if "handshakes" in flag]
    assert len(flags) == len(said) and all(word in flags[0] for word in said), flags


RESUMES = "handshakes that resumed a session, as load.tls.resumption asks"


def over_tls(full: int, resumed: int, asked: bool = True) -> Trial:
    trial = load_trial()
    trial.load_of(ConstantLoad).tls = TlsCounts(
        TlsSettings(resumption=asked), handshakes_full=full, handshakes_resumed=resumed
    )
    return trial


def resumes(trial: Trial) -> bool | None:
    (found,) = (each for each in checks(Readings(trial, (1,))) if each.name == RESUMES)
    return found.holds


def test_sessions_are_resumed_where_a_load_asks_for_it() -> None:
    """A server without tickets resumed none of 186, and every check held."""
    assert resumes(over_tls(186, 0)) is False
    assert resumes(over_tls(5, 181)) is True
    assert resumes(over_tls(0, 0)) is None
    without = checks(Readings(over_tls(186, 0, asked=False), (1,)))
    assert RESUMES not in [each.name for each in without]


def test_no_wait_is_told_of_handshakes_of_which_none_ended_in_the_window() -> None:
    """They waited "128 us of their 0 us"."""
    trial = over_tls(100, 0, asked=False)
    load = trial.load_of(ConstantLoad)
    assert load.tls
    load.tls.waited_us = 12_800
    load.latency = {"": {"connect": encoded({}), TLS_HANDSHAKE: encoded({})}}
    assert not [flag for flag in flags_of(Readings(trial, (1,))) if "waited" in flag]
    load.latency = {"": {"connect": encoded({100: 1}), TLS_HANDSHAKE: encoded({300: 1})}}
    (flag,) = (flag for flag in flags_of(Readings(trial, (1,))) if "waited" in flag)
    assert flag.startswith("handshakes waited 128 us of their 201 us")


def test_connections_that_all_failed_are_exactly_none() -> None:
    """They were -3e-15 in a second: the growths of two counters between two readings differ."""
    trial = load_trial(completed=0)
    trial.samples = [each for each in trial.samples if each.metric != "trex.counter"]
    readings = ((1.0, 0), (2.1, 311), (3.3, 623), (4.7, 1042))
    labels = {"engine": "generator", "side": "client"}
    for name in ("tcps_closed", "tcps_conndrops", "tcps_connattempt"):
        for time, value in readings:
            sample = Sample(
                time, "trex.counter", labels | {"counter": name}, value, "1", Kind.COUNTER, "made"
            )
            trial.samples.append(sample)
    trial.phases["sustain"] = Window(1.3, 4.1)
    assert completed_in(Readings(trial)) == 0
