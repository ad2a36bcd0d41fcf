"""Connections that fail in TLS: TCP sees them begin and end well."""

import pytest
from hdrh.histogram import HdrHistogram

from stackcost.analysis.flags import flags_of
from stackcost.analysis.readings import Readings
from stackcost.contracts.latency import HIGHEST_US, SIGNIFICANT_FIGURES, TLS_HANDSHAKE
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.tls import STEPS, TlsCounts, TlsSettings
from tests.analysis.trials import client_counters, load_trial

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


def histogram(microseconds: int) -> str:
    times = HdrHistogram(1, HIGHEST_US, SIGNIFICANT_FIGURES)
    times.record_value(microseconds, 1000)
    return times.encode().decode()


@pytest.mark.parametrize(("waited_us", "said"), [(240, []), (400, ["waited 400 us of their 1,0"])])
def test_handshakes_that_waited_long_for_either_side_of_the_generator_are_a_doubt(
    waited_us: int, said: list[str]
) -> None:
    trial = load_trial()
    load = trial.load_of(ConstantLoad)
    load.latency = {"": {"connect": histogram(100), TLS_HANDSHAKE: histogram(1100)}}
    half = NOT_WAITED | {"waited_us": 500 * waited_us}
    told = {"templates": [{"client": half | {"handshakes_full": 1000}, "server": half}]}
    load.tls = TlsCounts.of(TlsSettings(), told)
    flags = [flag for flag in flags_of(Readings(trial, (1,))) if "handshakes" in flag]
    assert len(flags) == len(said) and all(word in flags[0] for word in said), flags
