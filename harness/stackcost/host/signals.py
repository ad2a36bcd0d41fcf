"""Signals that end the process become exceptions, so that every exit cleans up."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_signals_raise() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT (Ctrl-C) does.

    Only the main thread can set handlers; in other threads this does nothing. A forked process
    inherits the handlers and must not run our clean-up: there the signal only ends the process.
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
    """Inside, these signals are delayed: a second Ctrl-C must not interrupt the clean-up.

    The mask applies to this thread and to programs that it starts. The mask is not enough: the
    kernel delivers a signal to any thread that does not block it, such as a library's thread, and
    Python then runs the handler in the main thread. On exit the first received signal is raised.
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
