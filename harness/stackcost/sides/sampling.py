"""Readings of a server and its host, on this host or on several."""

from dataclasses import dataclass
from typing import Protocol

from stackcost.contracts.collector import Phase, Reading
from stackcost.contracts.sample import Sample


@dataclass(frozen=True, slots=True)
class Interface:
    """Frames that an interface has received and sent (/proc/net/dev, columns 2 and 10)."""

    received: int
    sent: int


class Sampling(Protocol):
    """Readings of all collectors."""

    @property
    def samples(self) -> list[Sample]:
        """Everything read so far, in order of time."""

    @property
    def readings(self) -> list[Reading]:
        """Everything read so far by collector, for who looks at a few while a trial runs."""

    def read_now(self) -> list[Sample]:
        """Read everything now and return it; for the edges of a window."""

    def read_often(self, interval_s: float) -> None:
        """From the next reading on, read those that are read often at this interval, too."""

    def in_phase(self, phase: Phase, on: bool) -> None:
        """Begin or end what the collectors read in this phase of a trial only."""
