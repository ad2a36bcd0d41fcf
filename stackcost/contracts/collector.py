"""What reads figures of a machine or a program while a trial goes on."""

from abc import ABC, abstractmethod
from typing import Self

from stackcost.contracts.sample import Metric, Sample


class Collector(ABC):
    """Reads one source of figures; it never changes what it measures.

    `name`: for messages. `metrics`: every metric it may yield. `read` returns samples stamped with
    the moment of reading. It is called at both edges of the sustain window and periodically
    between. When `start` or `read` raises, the sampler records each of `metrics` as unknown with
    the error as its reason, and goes on; so a collector raises StackcostError for a source that
    this machine does not have.
    """

    name: str
    metrics: tuple[Metric, ...]

    def start(self) -> None:
        """Begin, for sources that need a process or a descriptor; files of /proc need nothing."""
        return

    @abstractmethod
    def read(self) -> list[Sample]:
        """All current values."""

    def stop(self) -> None:
        """End and give back everything `start` took; must work when `start` failed."""
        return

    def __enter__(self) -> Self:
        """For who reads one collector by itself: started here, stopped on exit."""
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
