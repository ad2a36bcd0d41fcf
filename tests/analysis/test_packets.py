"""Packets of a connection, and when a frame is none."""

import pytest

from stackcost.analysis.figures.rates import NOT_READ, packets_per_connection, why_no_packets
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
    assert packets_per_connection(seen, one_segment=True) == pytest.approx(33)
    assert why_no_packets(seen, one_segment=True) == ""


def test_with_tso_a_long_frame_among_short_ones_is_no_packet() -> None:
    """SYN-ACK, a response of 4,000 bytes in one frame, ACK and FIN: the mean would fit a line."""
    sent = 74 + 4066 + 66 + 66
    seen = Readings(counted(4 * COMPLETED, 4 * COMPLETED, COMPLETED * float(sent)))
    assert packets_per_connection(seen, one_segment=False) is None
    assert why_no_packets(seen, one_segment=False) == "with TSO a frame here may hold 4,110 B"


def test_with_tso_a_connection_that_would_fit_one_frame_is_counted() -> None:
    sent = 74 + 320 + 66
    seen = Readings(counted(4 * COMPLETED, 3 * COMPLETED, COMPLETED * float(sent)))
    assert packets_per_connection(seen, one_segment=False) == pytest.approx(7)


def test_an_interface_that_was_not_read_has_none() -> None:
    seen = Readings(load_trial())
    assert packets_per_connection(seen, one_segment=True) is None
    assert why_no_packets(seen, one_segment=True) == NOT_READ
