"""Measures the shortest time of a small step on a core, by the clock of the program itself.

The shortest of many batches is free of interruptions and other load, and needs no tracepoint.
"""

import subprocess
import sys

from stackcost.contracts.errors import StackcostError
from stackcost.host.namespace import run

BATCH, BATCHES = 100, 1000

# A packet to oneself over loopback is received inside of the sender's own system call, in one
# softirq. Both sockets are to be kept.
TO_SELF = """
import socket
def to_self(port=0):
    to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    to.bind(("127.0.0.1", port))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(to.getsockname())
    return to, sender
"""
# The set-up of a program, and its step.
SEND_TO_SELF = (f"{TO_SELF}to, sender = to_self()\n", 'sender.send(b"x")')
# Two processes on one core that wait for each other: a step is two task switches.
SWITCH_TWICE = (
    """
import os
there, back = os.pipe(), os.pipe()
if not os.fork():
    os.close(there[1])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
    os._exit(0)
os.close(there[0])
""",
    'os.write(there[1], b"x"); os.read(back[0], 1)',
)
MEASURE = f"""
import time
least = float("inf")
for _ in range({BATCHES}):
    began = time.perf_counter()
    for _ in range({BATCH}):
        STEP
    least = min(least, time.perf_counter() - began)
print(least / {BATCH} * 1e6)
"""


def least_microseconds(namespace: str, cpu: int, first: str, step: str) -> float:
    """Microseconds of one step of a Python program on a core in a network namespace.

    StackcostError if the program fails.
    """
    command = [sys.executable, "-S", "-c", first + MEASURE.replace("STEP", step)]
    process = run(namespace, command, [cpu], stdout=subprocess.PIPE, text=True)
    said, _ = process.communicate(timeout=60)
    if process.returncode:
        raise StackcostError(f"the calibration program failed in {namespace}: {step}")
    return float(said)
