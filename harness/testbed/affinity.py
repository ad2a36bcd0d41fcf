"""Keeps the harness itself off the server's cores while a test bed stands."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def harness_on(cpus: Iterable[int]) -> Iterator[None]:
    """Run every thread of this process, and what they start, on `cpus`; afterwards as before."""
    before = os.sched_getaffinity(0)
    _move_threads(set(cpus))
    try:
        yield
    finally:
        _move_threads(before)


def _move_threads(cpus: set[int]) -> None:
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), cpus)
        except ProcessLookupError:  # ended meanwhile
            continue
