"""The interface of collectors, which read figures of a machine or a program during a trial."""

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

    def divide(self, on: bool) -> list[Sample]:
        """Begin or end what slows the server too much to go on while costs are measured.

        A session does so for the warm-up. Returns what was read in that time, when it ends.
        """
        return []

    def stop(self) -> None:
        """End and release everything that `start` acquired; must also work if `start` failed."""
        return

    def __enter__(self) -> Self:
        """A context manager for a single collector: starts it on entry and stops it on exit."""
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
