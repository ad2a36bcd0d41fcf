"""The probe of a core's speed, on a core of this machine."""

import os
import time
from pathlib import Path

import psutil
import pytest

from stackcost.analysis.cost.slowed import slowed_share
from stackcost.analysis.readings import Readings
from stackcost.collect.core_speed import CoreSpeed
from stackcost.contracts import metrics
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.host.cores import online_cpus

CPU = online_cpus()[-1]
WINDOW_S = 1.0
MOST_SHARE = 0.005  # of the core, that the probe may take

pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(os.geteuid() != 0, reason="a realtime priority needs root"),
]


def programs() -> list[psutil.Process]:
    own = psutil.Process().children()
    return [each for each in own if Path(each.exe() or ".").name.startswith("core_speed")]


def test_known_work_is_done_all_the_time_takes_hardly_any_and_ends_with_its_reader() -> None:
    speed = CoreSpeed([CPU])
    speed.start()
    try:
        time.sleep(0.2)
        (program,) = programs()
        samples, began, before = speed.read(), time.monotonic(), sum(program.cpu_times()[:2])
        time.sleep(WINDOW_S)
        window = Window(began, time.monotonic())
        samples += speed.read()
        taken = sum(program.cpu_times()[:2]) - before
    finally:
        speed.stop()
    trial = Trial(
        "", 1, 1, ConstantLoad(offered_cps=0.0), phases={"sustain": window}, samples=samples
    )
    seen = Readings(trial, [CPU])
    count = seen.growth(metrics.CORE_WORK_COUNT)
    spent = seen.growth(metrics.CORE_WORK_TIME)
    assert count and spent and 10 < count < 110 * window.length
    assert taken < MOST_SHARE * window.length + 0.01  # the kernel counts in hundredths
    slowed = slowed_share(seen)
    assert slowed is not None and slowed >= 0
    assert programs() == []


def test_a_probe_that_ended_is_no_figure() -> None:
    speed = CoreSpeed([CPU])
    speed.start()
    try:
        (program,) = programs()
        program.kill()
        program.wait(5)
        with pytest.raises(Exception, match="has ended"):
            speed.read()
    finally:
        speed.stop()
