"""A span of time that figures are of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """A span of CLOCK_MONOTONIC seconds to which every series is cut."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start
