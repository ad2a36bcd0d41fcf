"""Loads of known size, each in a process of its own on one CPU, and their readings."""

import subprocess
import sys
from collections.abc import Sequence

from stackcost.analysis.window import growth, known_values
from stackcost.contracts.sample import Sample
from stackcost.contracts.window import Window

BURN = """
import time
while time.process_time() < {seconds}: sum(range(50_000))
"""
CALL = """
import os, time
source = os.open("/dev/zero", os.O_RDONLY)
while time.process_time() < {seconds}: os.read(source, 1 << 20)
"""
SEND = """
import socket
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({packets}): sender.sendto(b"x", to.getsockname())
"""
WAKES = """
import time
for _ in range({times}): time.sleep({seconds})
"""
# Prints user and system seconds at its end.
REPORT = """
import resource
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime, usage.ru_stime)
"""


def start(program: str, cpu: int) -> subprocess.Popen[str]:
    """Run a Python program on one CPU."""
    command = ["taskset", "--cpu-list", str(cpu), sys.executable, "-S", "-c", program + REPORT]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> float:
    """Wait for a program of `start`; returns the CPU seconds it took by its own account."""
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return sum(map(float, output.split()))


def grown(samples: Sequence[Sample], window: Window, metric: str, **labels: str) -> float:
    """Growth of the one series that has the labels."""
    series = [s for s in samples if s.metric == metric and labels.items() <= s.labels.items()]
    assert len({tuple(s.labels.items()) for s in series}) == 1
    found = growth(known_values(series), window)
    assert found is not None
    return found
