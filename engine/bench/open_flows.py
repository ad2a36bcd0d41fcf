"""Time, instructions and bytes of a connection with 1,000 to 10 million others open."""

import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from capacity import available_bytes
from tools.figures import Figure, Measured, number, report, say

from stackcost.contracts.errors import StackcostError

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "build/instructions/tests/connections"
OPEN = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
BASE = 10_000
ENDS = 2  # of a connection, both on one core
BYTES_WITH_SPARE = 600  # of memory for a connection, valgrind's own included
LARGEST_RATIO = 1.3
WHAT = (
    "one core plays both ends on a virtual clock: a 100-byte response, then idle until so many "
    "others were opened after it, then closed; 416,000 more are in TIME_WAIT"
)
_COUNTED = re.compile(r"^(\d+) instructions$", re.MULTILINE)
_TIMED = re.compile(r"([\d.]+) ns each, (\d+) bytes")


class Seen(NamedTuple):
    """One run: nanoseconds of a connection, bytes for all flows that are open."""

    nanoseconds: float
    bytes: int


def run(trials: int) -> dict[str, Any]:
    """The curve once for each trial, its points in turn; instructions once, as they do not vary."""
    points = [flows for flows in OPEN if flows * BYTES_WITH_SPARE < available_bytes()]
    instructions = {flows: counted(flows) for flows in points}
    curve = {flows: figures_of(flows) for flows in points}
    for trial in range(trials):
        seen = {flows: timed(flows) for flows in points}
        for flows, (time, ratio, count, memory) in curve.items():
            time.trials.append(seen[flows].nanoseconds)
            ratio.trials.append(seen[flows].nanoseconds / seen[BASE].nanoseconds)
            count.trials.append(instructions[flows])
            memory.trials.append(seen[flows].bytes / (ENDS * flows))
        said = ", ".join(f"{number(seen[flows].nanoseconds)} ns" for flows in points)
        say(trial, trials, said)
    return report([one for figures in curve.values() for one in figures])


def figures_of(flows: int) -> tuple[Measured, Measured, Measured, Measured]:
    """Of one point of the curve: time, its ratio to BASE's, instructions, memory."""
    open_flows = f"{flows:,} open"
    return (
        Measured(
            Figure(
                f"time, {open_flows}",
                "ns",
                f"the thread's own for a connection, both ends, in quiet moments; {WHAT}",
            )
        ),
        Measured(
            Figure(
                f"time over that of {BASE:,}, {open_flows}",
                "",
                "in the same trial",
                target=LARGEST_RATIO if flows > BASE else None,
                lower_is_better=True,
            )
        ),
        Measured(
            Figure(f"instructions, {open_flows}", "", f"of a connection, by callgrind; {WHAT}")
        ),
        Measured(
            Figure(
                f"memory, {open_flows}",
                "B",
                "pools for flows over the ends that are open, those in TIME_WAIT left out",
                lower_is_better=True,
            )
        ),
    )


def counted(flows: int) -> float:
    """Instructions of a connection; builds the program."""
    (count,) = _seen(_COUNTED, ["script/instructions", str(flows)])
    return float(count)


def timed(flows: int) -> Seen:
    """One run without valgrind."""
    nanoseconds, memory = _seen(_TIMED, [str(PROGRAM), str(flows)])
    return Seen(float(nanoseconds), int(memory))


def _seen(pattern: re.Pattern[str], command: list[str]) -> tuple[str, ...]:
    """What a command prints of interest."""
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    found = pattern.search(done.stdout)
    if done.returncode != 0 or not found:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise StackcostError(
            f"{' '.join(command)} failed: {' '.join(last)}", "run it by hand; it needs valgrind"
        )
    return found.groups()
