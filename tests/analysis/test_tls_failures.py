"""Connections that fail in TLS: TCP sees them begin and end well."""

from stackcost.analysis.flags import flags_of
from stackcost.analysis.readings import Readings
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.tls import TlsCounts, TlsSettings
from tests.analysis.trials import client_counters, load_trial

SIDE = {"handshakes_full": 3, "failed": 2, "alerts_received": {"handshake failure": 2}}


def test_they_are_failed_connections_with_the_alerts_as_the_reason() -> None:
    trial = load_trial()
    load = trial.load_of(ConstantLoad)
    load.client = client_counters(10_000, 0)
    assert (load.completed, load.failed) == (10_000, 0)
    told = {"templates": [{"client": SIDE}, {"client": SIDE | {"ended_in_handshake": 1}}]}
    load.tls = TlsCounts.of(TlsSettings(version="1.3"), told)
    assert (load.tls.handshakes_full, load.completed, load.failed) == (6, 9_996, 4)
    flags = flags_of(Readings(trial), (1,))
    assert "4 of 10,000 connections failed" in flags
    reasons = "alert 'handshake failure' received (4), closed by the peer in the handshake (1)"
    assert f"4 connections failed in TLS: {reasons}" in flags


def test_what_the_generator_lacked_for_tls_is_a_doubt() -> None:
    trial = load_trial()
    trial.load_of(ConstantLoad).tls = TlsCounts(TlsSettings(), lacked_memory=7, cut_segments=8)
    flags = flags_of(Readings(trial), (1,))
    assert "the generator's memory for TLS was used up 7 times" in flags
    assert "the generator's port cut 8 segments, which came again" in flags
