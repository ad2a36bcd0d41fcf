"""A stack in a counting guest is called from outside of it; here both ends are on this machine."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement
from stackcost.counting.inside import StackInside, answer
from stackcost.counting.stack import GuestStack
from stackcost.host.namespace import OWN
from stackcost.host.waiting import wait_until


@contextmanager
def called() -> Iterator[GuestStack]:
    near, far = socket.socketpair()
    thread = threading.Thread(target=answer, args=(StackInside(), far), daemon=True)
    thread.start()
    try:
        yield GuestStack(near, "kernel")
    finally:
        near.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        near.close()


def placement(folder: Path) -> Placement:
    return Placement(OWN, "lo", (0,), folder, ("127.0.0.1", 80))


def test_a_program_runs_on_it_and_ends_before_the_next_one_starts(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with called() as stack:
        stack.prepare("kernel", placement(tmp_path))
        first = stack.start(["sh", "-c", "pwd; exec sleep 60"], tmp_path, log)
        second = stack.start(["sleep", "60"], tmp_path, log)
        assert not psutil.pid_exists(first)
        program = psutil.Process(second)
        try:
            assert wait_until(lambda: program.name() == "sleep", 10)  # taskset becomes it
            assert program.cwd() == str(tmp_path)
        finally:
            program.kill()


def test_what_carried_the_connections_is_told(tmp_path: Path) -> None:
    with called() as stack:
        stack.prepare("kernel", placement(tmp_path))
        stack.check_stack("before", {"nginx 7": 7})
        assert stack.stack_check().as_wanted
        assert stack.describe() == {"name": "kernel"}


def test_an_error_there_is_one_here(tmp_path: Path) -> None:
    with called() as stack:
        with pytest.raises(StackcostError, match="the stack is not ready"):
            stack.describe()
        with pytest.raises(StackcostError, match="Onload carries nothing over loopback"):
            stack.prepare("onload-balanced", placement(tmp_path))


def test_an_end_there_is_told_by_the_name_of_the_stack() -> None:
    near, far = socket.socketpair()
    with near, far:
        stack = GuestStack(near, "onload-balanced")
        far.shutdown(socket.SHUT_RDWR)
        with pytest.raises(StackcostError, match="onload-balanced in the counting guest: its"):
            stack.describe()


def test_a_caller_that_ends_without_reading_its_answer_ends_nothing_else() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        caller = socket.create_connection(server.getsockname())
        callee, _ = server.accept()
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(answer, StackInside(), callee)
            assert caller.recv(1, socket.MSG_PEEK)
            caller.close()  # what it was sent is not read: the kernel resets the connection
            assert done.result(10) is None
