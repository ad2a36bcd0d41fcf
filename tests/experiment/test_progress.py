import io

import pytest
from rich.console import Console

from stackcost.session import progress as module
from stackcost.session.progress import Progress


def test_without_a_terminal_each_step_is_one_plain_line_with_the_time_left() -> None:
    written = io.StringIO()
    with Progress(90, Console(file=written, width=40)) as progress:
        progress.say("round 1 of 2, nginx/kernel: [2,000] connections/s, a line of some length")
        progress.reach(60)
        progress.say("next")
    first, second = written.getvalue().splitlines()
    assert first.endswith(
        "about 1:30 left] round 1 of 2, nginx/kernel: [2,000] connections/s, a line of some length"
    )
    assert "about 0:30 left] next" in second
    assert "\x1b" not in written.getvalue()


def test_on_a_terminal_one_line_is_redrawn() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    with Progress(3661, console) as progress:
        progress.say("round 1")
    assert "about 1:01:01 left" in written.getvalue()


def test_pausing_moves_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE_S", 0.01)
    progress = Progress(10, Console(file=io.StringIO()))
    progress.pause(0.05)
    assert progress.left_s == pytest.approx(9.95, abs=0.02)
