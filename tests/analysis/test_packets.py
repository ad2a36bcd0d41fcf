"""Packets of a connection, and when a frame is none."""

import pytest

from stackcost.analysis.packets import NOT_READ, packets_per_connection, why_no_packets
from stackcost.analysis.readings import Readings
from stackcost.contracts.trial import Trial
from tests.analysis.trials import counter, load_trial

COMPLETED = 10_000


def counted(received: int, sent: int, sent_bytes: float, interface: str = "sc-server0") -> Trial:
    """A trial whose interface counted so much in the window."""
    trial = load_trial(completed=COMPLETED)
    for direction, packets, size in (
        ("receive", received, 66.0 * received),
        ("send", sent, sent_bytes),
    ):
        labels = {"namespace": "made", "interface": interface, "direction": direction}
        trial.samples += counter("interface.packets", packets, labels)
        trial.samples += counter("interface.bytes", size, labels)
    return trial


def test_both_directions_are_counted_without_loopback() -> None:
    trial = counted(7 * COMPLETED, 26 * COMPLETED, 26 * COMPLETED * 1284.0)
    trial.samples += counted(1, COMPLETED, 60.0 * COMPLETED, "lo").samples
    seen = Readings(trial)
    assert packets_per_connection(seen) == pytest.approx(33) and why_no_packets(seen) == ""


def test_frames_of_several_segments_are_no_packets() -> None:
    seen = Readings(counted(3 * COMPLETED, 2 * COMPLETED, 2 * COMPLETED * 16_500.0))
    assert packets_per_connection(seen) is None
    assert why_no_packets(seen) == "a frame here holds several segments: 16,500 B"


def test_an_interface_that_was_not_read_has_none() -> None:
    seen = Readings(load_trial())
    assert packets_per_connection(seen) is None and why_no_packets(seen) == NOT_READ
