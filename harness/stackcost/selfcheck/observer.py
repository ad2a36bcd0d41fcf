"""A second observer: a program that reads all it can about a server while its memory is measured.

It does what lsof, a monitoring agent or a shell user does. Each leaves objects in the kernel: a
dentry and an inode for each descriptor of the server, and a dentry for each name that was looked
up.
"""

import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from stackcost.host.namespace import end_group, run

OBSERVE = """
import os, sys, time
for turn in range(1000):
    for process in sys.argv[1:]:
        try:
            for name in os.listdir(f"/proc/{process}/fd"):
                os.readlink(f"/proc/{process}/fd/{name}")
        except FileNotFoundError:
            pass
    for name in range(1000):
        os.path.exists(f"/tmp/no-such-file-{os.getpid()}-{turn}-{name}")
    open(f"/proc/{sys.argv[1]}/net/tcp").read()
    time.sleep(0.05)
"""


@contextmanager
def second_observer(
    namespace: str, cpus: Collection[int], processes: Sequence[int]
) -> Iterator[None]:
    """It observes `processes` inside, on `cpus`, some times a second."""
    observer = run(
        namespace,
        [sys.executable, "-S", "-c", OBSERVE, *map(str, processes)],
        cpus,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        end_group(observer)
