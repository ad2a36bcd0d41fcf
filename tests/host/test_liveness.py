"""What counts as a program that does its work no more."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.host.liveness import check_family
from stackcost.host.waiting import wait_until

# Starts one command that stays, and one that ends and is not waited for.
SCRIPT = """
import subprocess, time
stays = subprocess.Popen(["sleep", "100"])
ends = subprocess.Popen(["true"], stdout=subprocess.PIPE)
ends.stdout.read()
print(stays.pid, flush=True)
time.sleep(100)
"""


@pytest.fixture
def script() -> Iterator[tuple[int, int]]:
    """Process ids of a running script, and of what it has started."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_command_of_a_script_may_end(script: tuple[int, int]) -> None:
    children = psutil.Process(script[0]).children()
    assert wait_until(lambda: psutil.STATUS_ZOMBIE in [each.status() for each in children], 10)
    check_family(script[0], "the script")


def test_a_part_that_is_stopped_is_named(script: tuple[int, int]) -> None:
    os.kill(script[1], signal.SIGSTOP)
    # The kernel stops it when it next runs, which is not at once.
    assert wait_until(lambda: psutil.Process(script[1]).status() == psutil.STATUS_STOPPED, 10)
    with pytest.raises(StackcostError, match=f"the script \\(process {script[1]}\\) is stopped"):
        check_family(script[0], "the script")


def test_a_script_that_is_killed_is_gone(script: tuple[int, int]) -> None:
    os.kill(script[0], signal.SIGKILL)
    with pytest.raises(StackcostError, match=f"the script \\(process {script[0]}\\) has ended"):
        for _ in range(1000):
            check_family(script[0], "the script")
