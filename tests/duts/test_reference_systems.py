"""Devices that only forward, and no device at all: nothing is lost, all that was asked is done."""

from pathlib import Path

import pytest

from stackcost.analysis import device
from stackcost.duts.base import Dut
from stackcost.servers.registry import server_class
from tests.duts.bed import load_trial, session_of

Bridge = server_class("dut/bridge")
Forwarding = server_class("dut/forwarding")
Wire = server_class("dut/wire")

pytestmark = pytest.mark.bed


@pytest.mark.parametrize("kind", [Forwarding, Bridge, Wire])
def test_what_only_forwards_does_what_the_wire_does(kind: type[Dut], tmp_path: Path) -> None:
    with session_of(kind, tmp_path) as session:
        seen = load_trial(session, 1_000, 1.0)
    trial, lost = seen.trial, device.lost_frames(seen.trial)
    opened = trial.traffic.counter("tcps_connattempt")
    assert trial.traffic.completed == opened > 0
    assert trial.traffic.retransmitted == trial.traffic.failed == 0
    assert trial.traffic.counter("tcps_rcvbyte") == opened * session.response_bytes
    assert lost == (None if kind is Wire else device.LostFrames(0, 0, 0))
