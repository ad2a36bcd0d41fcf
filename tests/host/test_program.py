"""A program that the bed depends on: up, not up, ended by itself, ended with all it started."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from stackcost.host.program import Program

WAITS = "import subprocess, sys; subprocess.Popen(['sleep', '300']); print('up', flush=True); "


def started(folder: Path, code: str) -> Program:
    made = Program("server", folder / "log")

    def spawn(command: list[str], **options: object) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(command, start_new_session=True, **options)  # type: ignore[call-overload, no-any-return]

    made.start(spawn, [sys.executable, "-c", code])
    return made


def test_it_is_up_when_it_answers_and_ends_with_what_it_started(tmp_path: Path) -> None:
    program = started(tmp_path, WAITS + "sys.stdin.read(); import time; time.sleep(300)")
    assert program.wait_until_up(lambda: "up" in program.output(), 60)
    assert program.runs and program.status is None and program.process_id
    family = psutil.Process(program.process_id).children()
    assert family
    program.end()
    program.end()
    assert not program.runs and program.process_id is None
    assert not any(each.is_running() and each.status() != "zombie" for each in family)


@pytest.mark.parametrize(
    ("code", "limit_s", "what", "hint"),
    [
        (
            "sys.exit('no such device')",
            60,
            "server ended with exit status 1: no such device",
            "log",
        ),
        ("time.sleep(300)", 0.1, "server did not answer: it printed nothing", "timeout_factor"),
    ],
)
def test_one_that_is_not_up_is_reported_with_its_last_words_and_what_helps(
    tmp_path: Path, code: str, limit_s: float, what: str, hint: str
) -> None:
    program = started(tmp_path, f"import sys, time; {code}")
    assert not program.wait_until_up(lambda: False, limit_s)
    told = program.start_error()
    program.end()
    assert told.what == what and hint.replace("log", str(program.log)) in told.hint
