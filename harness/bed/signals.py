"""Ends by signal become ends by exception, so that every end undoes what was made."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_signals_raise() -> Iterator[None]:
    """Within it SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT (Ctrl-C) does.

    Only the main thread may set handlers; elsewhere this does nothing. A process forked from this
    one inherits the handlers and must not unwind our clean-up: there the signal just ends it.
    """
    owner = os.getpid()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:
            os._exit(128 + number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {number: signal.signal(number, interrupt) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@contextmanager
def ending_signals_held() -> Iterator[None]:
    """Within it these signals wait: a second Ctrl-C must not cut the clean-up short.

    The mask is for this thread and for programs that are started meanwhile. It does not do alone:
    the kernel gives a signal to any thread that does not block it, such as a library's, and Python
    then handles it here. The first that came is raised on exit.
    """
    came: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    handlers = {
        number: signal.signal(number, lambda which, _: came.append(which))
        for number in (ENDING_SIGNALS if is_main else ())
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
