"""Where frames were lost on the path, while a device sends frames of its own."""

from typing import Any

import pytest

from stackcost.session.path import READINGS, count_frames, frames_since
from stackcost.sides.sampling import Interface


class SendingDevice:
    """A session whose device sends frames of its own to the clients' port.

    `own`: how many leave while each of the first readings is made, after the device was read.
    """

    def __init__(self, own: list[int]) -> None:
        self.serving = self.generator = self.wiring = self
        self.tested = ["near", "far"]
        self.own = own
        self.sent = 0
        self.readings = 0

    def frames(self) -> list[Interface]:
        self.readings += 1
        return [Interface(received=0, sent=self.sent), Interface(received=0, sent=0)]

    def stats(self) -> dict[str, Any]:
        self.sent += self.own.pop(0) if self.own else 0
        return {
            "0": {"ipackets": self.sent, "opackets": 0},
            "1": {"ipackets": 0, "opackets": 0},
        }


@pytest.mark.parametrize("own", [[1], [1, 2, 1]])
def test_a_frame_of_the_devices_own_during_the_reading_is_not_lost(own: list[int]) -> None:
    path: Any = SendingDevice(own)
    before = count_frames(path)
    path.sent += 7
    passed = frames_since(path, before)
    assert passed
    assert (passed["to clients"].left, passed["to clients"].arrived) == (7, 7)


def test_a_device_that_never_stops_sending_is_read_a_bounded_number_of_times() -> None:
    path: Any = SendingDevice([1] * 100)
    assert count_frames(path)
    assert path.readings == READINGS
