"""What a load over TLS asked for is checked; counts that did not grow are exactly zero."""

from collections.abc import Sequence

from hdrh.histogram import HdrHistogram

from stackcost.analysis.checks import checks
from stackcost.analysis.flags import flags_of
from stackcost.analysis.flows import completed_in
from stackcost.analysis.readings import Readings
from stackcost.contracts.latency import TLS_HANDSHAKE
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.tls import TlsCounts, TlsSettings
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from tests.analysis.trials import load_trial

RESUMES = "handshakes that resumed a session, as load.tls.resumption asks"


def encoded(microseconds: Sequence[int]) -> str:
    histogram = HdrHistogram(1, 2**32 - 1, 2)
    for each in microseconds:
        histogram.record_value(each)
    return str(histogram.encode().decode())


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
    load.latency = {"": {"connect": encoded([]), TLS_HANDSHAKE: encoded([])}}
    assert not [flag for flag in flags_of(Readings(trial, (1,))) if "waited" in flag]
    load.latency = {"": {"connect": encoded([100]), TLS_HANDSHAKE: encoded([300])}}
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
