"""TRex's client waits by time.time(); a step of the wall clock must neither stop nor cut it."""

import subprocess
import sys
from pathlib import Path

import pytest

# A clock_gettime that adds what the file says to the wall clock, as if somebody set it.
STEPPED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *out) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, out);
    if (id == CLOCK_REALTIME) {
        FILE *file = fopen(getenv("CLOCK_STEP_FILE"), "r");
        long step = 0;
        if (file) { if (fscanf(file, "%ld", &step) != 1) step = 0; fclose(file); }
        out->tv_sec += step;
    }
    return result;
}
"""
WAIT = """
import os, sys, time
from stackcost.trex.trex_api import open_trex_api
wall = time.time
open_trex_api()
from trex.utils.common import PassiveTimer
timer = PassiveTimer(1.0)
began, wall_began = time.monotonic(), wall()
with open(os.environ["CLOCK_STEP_FILE"], "w") as file:
    file.write(sys.argv[1])
stepped = wall() - wall_began
assert abs(stepped - int(sys.argv[1])) < 60, f"the wall clock went by {stepped} s"
assert not timer.has_expired(), "it ended at once"
while not timer.has_expired() and time.monotonic() - began < 20:
    time.sleep(0.02)
assert time.monotonic() - began < 20, "it went on waiting"
"""


@pytest.mark.parametrize("step_s", [-3600, 3600], ids=["backwards", "forwards"])
def test_the_clients_limits_survive_a_step_of_the_wall_clock(tmp_path: Path, step_s: int) -> None:
    library = tmp_path / "stepped.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library), "-ldl"],
        input=STEPPED.encode(),
        check=True,
    )
    environment = {
        "PATH": "/usr/bin:/bin",
        "LD_PRELOAD": str(library),
        "CLOCK_STEP_FILE": str(tmp_path / "step"),
    }
    done = subprocess.run(
        [sys.executable, "-c", WAIT, str(step_s)],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
