"""Open files are counted; nothing of the process changes by that."""

import os
import socket
from contextlib import ExitStack

import pytest

from stackcost.host.open_files import listed_open_files, open_files

SOCKETS = 500


def test_both_ways_find_what_a_list_finds() -> None:
    with ExitStack() as stack:
        before = open_files(os.getpid())
        for _ in range(SOCKETS):
            stack.enter_context(socket.socket())
        assert open_files(os.getpid()) == before + SOCKETS
    assert open_files(os.getpid()) == before


@pytest.mark.bed
def test_an_older_kernel_lists_them() -> None:
    with ExitStack() as stack:
        before = listed_open_files(os.getppid())
        for _ in range(SOCKETS):
            stack.enter_context(socket.socket())
        assert listed_open_files(os.getppid()) == before == open_files(os.getppid())
        assert listed_open_files(os.getpid()) > SOCKETS


def test_a_process_that_has_ended_has_none() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(FileNotFoundError):
        open_files(child)
