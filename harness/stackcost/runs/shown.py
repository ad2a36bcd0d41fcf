"""Shows the progress of a run: one line with a bar on a terminal, or plain lines."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from stackcost.session.progress import Now, Progress


@contextmanager
def shown(console: Console) -> Iterator[Progress]:
    """The progress of a run. A terminal has one line, which is drawn anew twice a second; any other
    console gets a line each time that something else is done.
    """
    progress = Progress()
    progress.on_note(
        lambda words: console.print(words, highlight=False, markup=False, soft_wrap=True)
    )
    if console.is_terminal:
        with Live(
            console=console,
            get_renderable=lambda: _bar(progress.now()),
            refresh_per_second=2,
            transient=True,
        ) as live:
            progress.subscribe(lambda _: live.refresh())
            yield progress
        return
    started = time.monotonic()

    def say(now: Now) -> None:
        passed = time.monotonic() - started
        console.print(
            f"[{passed:5.0f} s{_left(now, ', ')}] {_words(now)}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )

    progress.subscribe(say)
    yield progress


def _bar(now: Now) -> Table:
    whole = now.passed_s + now.left_s
    line = Table.grid(padding=(0, 1))
    line.add_row(
        Text(_words(now), no_wrap=True),
        ProgressBar(total=whole or None, completed=now.passed_s, width=30),
        Text(_left(now), no_wrap=True),
    )
    return line


def _words(now: Now) -> str:
    return f"{now.turn}: {now.doing}" if now.turn else now.doing or "starting"


def _left(now: Now, before: str = "") -> str:
    """Empty before the first turn: nothing is planned yet."""
    return f"{before}about {clock(now.left_s)} left" if now.turn else ""


def clock(seconds: float) -> str:
    """Format as minutes and seconds, 1:05; from one hour on as 2:00:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
