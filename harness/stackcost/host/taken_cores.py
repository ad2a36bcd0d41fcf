"""What takes the cores of this machine, by a look at /proc for a moment."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
LARGEST = 3  # programs that are named


class Program(NamedTuple):
    """A program, its process, and the CPU time that it took, in cores (1: a whole one)."""

    command: str
    process: int
    cores: float


class TakenCores(NamedTuple):
    """What took the cores within some `seconds`.

    `shares`: by core, the share (0 to 1) that was not idle, stolen time included. `programs`: the
    largest that lived all the time, beginning with the largest. `stolen`: the share (0 to 1) of all
    cores together that a hypervisor took.
    """

    seconds: float
    shares: Mapping[int, float]
    programs: list[Program]
    stolen: float = 0.0

    @property
    def share(self) -> float:
        """Of all cores together, 0 to 1."""
        return sum(self.shares.values()) / len(self.shares) if self.shares else 0.0


def look(seconds: float) -> TakenCores:
    """Look at all cores for so long; this process itself is left out.

    Sources: /proc/stat, and utime and stime of /proc/PID/stat (proc(5)), which count in ticks.
    """
    before, programs_before, began = _cores(), _programs(), time.monotonic()
    time.sleep(seconds)
    after, programs_after = _cores(), _programs()
    passed = time.monotonic() - began
    grown_of = {
        core: [new - old for new, old in zip(ticks, before[core], strict=True)]
        for core, ticks in after.items()
        if core in before
    }
    shares = {core: busy / max(1, whole) for core, (busy, _, whole) in grown_of.items()}
    stolen = [taken / max(1, whole) for _, taken, whole in grown_of.values()]
    ticks = os.sysconf("SC_CLK_TCK")
    grown = [
        Program(command, process, (time_after - programs_before[process][1]) / ticks / passed)
        for process, (command, time_after) in programs_after.items()
        if process in programs_before and process != os.getpid()
    ]
    largest = sorted(grown, key=lambda each: -each.cores)[:LARGEST]
    programs = [each for each in largest if each.cores > 0]
    return TakenCores(passed, shares, programs, sum(stolen) / max(1, len(stolen)))


def _cores() -> dict[int, tuple[int, int, int]]:
    """By core, the ticks in which it was not idle, those a hypervisor took, and all ticks."""
    found = {}
    for line in (PROC / "stat").read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            # user, nice, system, idle, iowait, irq, softirq, steal
            ticks = [int(each) for each in fields[:8]]
            busy = sum(ticks) - ticks[3] - ticks[4]
            found[int(name.removeprefix("cpu"))] = busy, ticks[7], sum(ticks)
    return found


def _programs() -> dict[int, tuple[str, int]]:
    """By process, its command and its ticks."""
    found = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                head, _, rest = (folder / "stat").read_text().rpartition(")")
            except OSError:  # it has ended
                continue
            fields = rest.split()
            found[int(folder.name)] = head.partition("(")[2], int(fields[11]) + int(fields[12])
    return found
