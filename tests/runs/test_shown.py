import io

from rich.console import Console

from stackcost.runs.shown import shown


def test_without_a_terminal_each_step_is_one_plain_line_with_the_time_left() -> None:
    written = io.StringIO()
    what = "[2,000] connections/s, a line of some length"
    with shown(Console(file=written, width=40)) as progress:
        progress.say("looking at the cores")
        progress.expect([90])
        with progress.turn("round 1 of 2, nginx/kernel", "nginx/kernel", 60):
            progress.say(what)
            with progress.trial("next", 10):
                pass
    before, first, second = written.getvalue().splitlines()
    assert before.endswith("s] looking at the cores"), "no time is left of what is not planned"
    assert first.endswith(f"about 1:30 left] round 1 of 2, nginx/kernel: {what}")
    assert "about 0:30 left] round 1 of 2, nginx/kernel: next" in second
    assert "\x1b" not in written.getvalue()


def test_on_a_terminal_one_line_is_redrawn() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    with shown(console) as progress:
        progress.expect([3661])
        with progress.turn("round 1", "nginx/kernel", 1.0):
            progress.say("server")
    assert "round 1: server" in written.getvalue()
    assert "about 1:01:01 left" in written.getvalue()
