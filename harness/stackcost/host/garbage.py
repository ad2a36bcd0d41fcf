"""Keeps Python's garbage collector out of trials: it runs on the core of the generator."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_kept_out = 0


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Inside, in any thread of this process, the collector of cycles does not run by itself.

    A full collection reads every object of the process: 0.1 to 0.3 s of the load's core, during
    which the generator waits. What has no cycle is freed all the same (Python library, gc).
    """
    global _kept_out
    with _lock:
        _kept_out += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _kept_out -= 1
            if not _kept_out:
                gc.enable()
