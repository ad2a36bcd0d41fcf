"""Shows the progress of a run and its remaining time: a bar on a terminal, or plain lines."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn
from rich.progress import Progress as Bar
from rich.text import Text

SLICE_S = 0.25


class Progress:
    """A context manager for `planned_s` seconds of work, of which `done` seconds are finished.

    On a terminal it redraws one line twice a second; otherwise it prints one line per `say`.
    """

    def __init__(self, planned_s: float, console: Console):
        self._planned = planned_s
        self._console = console
        self._started = time.monotonic()
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            _TimeLeft(),
            console=console,
            refresh_per_second=2,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=planned_s)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    @property
    def left_s(self) -> float:
        """Planned seconds that remain."""
        return max(0.0, self._planned - self._bar.tasks[0].completed)

    def say(self, what: str) -> None:
        """Show what is being done now."""
        self._bar.update(self._task, description=what)
        if not self._console.is_terminal:
            passed = time.monotonic() - self._started
            self._console.print(
                f"[{passed:5.0f} s, about {clock(self.left_s)} left] {what}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )

    def expect(self, planned_s: float) -> None:
        """Set the planned total of seconds, finished work included."""
        self._planned = planned_s
        self._bar.update(self._task, total=planned_s)

    def reach(self, seconds: float) -> None:
        """Set how many of the planned seconds are finished."""
        self._bar.update(self._task, completed=seconds)

    def pause(self, seconds: float) -> None:
        """Wait, and show the progress meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(SLICE_S, left))
            self._bar.advance(self._task, min(SLICE_S, left))


class _TimeLeft(ProgressColumn):
    def render(self, task: Task) -> Text:
        """The remaining seconds of the plan, which is more exact than the past rate."""
        left = max(0.0, (task.total or 0) - task.completed)
        return Text(f"about {clock(left)} left")


def clock(seconds: float) -> str:
    """Format as minutes and seconds, 1:05; from one hour on as 2:00:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
