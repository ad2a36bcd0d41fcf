"""Blocked time of a program that waits for the disk, and of one that waits for something else."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackcost.collect.blocked import BlockedTime
from stackcost.contracts.sample import Sample

SYNCS = 20
# Writes and syncs when told to: the process in its first thread, or in another one.
PROGRAM = """
import os, sys, threading
def work():
    with open(sys.argv[1], "wb") as file:
        for _ in range(int(sys.argv[2])):
            file.write(b"x" * 65536)
            file.flush()
            os.fsync(file.fileno())
for line in sys.stdin:
    if line.startswith("thread"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    elif line.startswith("disk"):
        work()
    else:
        import time; time.sleep(0.2)
    print("done", flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "file"), str(SYNCS)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield started
    started.kill()
    started.wait()


def blocked(samples: list[Sample], part: str, metric: str = "thread.blocked_time") -> float:
    (found,) = [s for s in samples if s.metric == metric and s.labels["part"] == part]
    assert found.value is not None
    return found.value


def test_waiting_for_the_disk_is_distinguished_by_thread_and_from_sleeping(
    program: "subprocess.Popen[str]",
) -> None:
    assert program.stdin and program.stdout
    collector = BlockedTime({"worker-0": program.pid})
    collector.start()
    try:
        readings = [collector.read()]
        for what in ("sleep", "disk", "thread"):
            program.stdin.write(what + "\n")
            program.stdin.flush()
            program.stdout.readline()
            readings.append(collector.read())
    finally:
        collector.stop()
    before, slept, synced, threaded = readings
    loop = [blocked(each, "event loop") for each in readings]
    pool = [blocked(each, "thread pool") for each in readings]
    assert loop[1] - loop[0] < 0.1, "an interruptible sleep of 0.2 s is none"
    assert loop[2] > loop[1] and pool[2] == 0
    assert pool[3] > 0
    count = "thread.blocked_times"
    assert blocked(synced, "event loop", count) >= SYNCS
    assert blocked(threaded, "thread pool", count) >= SYNCS
    assert blocked(slept, "thread pool", count) == blocked(before, "thread pool", count) == 0
