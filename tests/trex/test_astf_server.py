"""Starting and ending a server process: what goes wrong is said, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until
from stackcost.trex import astf_server
from stackcost.trex.astf_server import AstfServer, engine_path, listens, trex_home
from tests.scripts import write_program
from tests.trex.conftest import REPOSITORY, alive, wire_config


@pytest.fixture(autouse=True)
def no_trex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TREX_HOME", raising=False)


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Let STACKCOST_ENGINE be a Python program."""
    path = folder / "engine"
    write_program(path, textwrap.dedent(body))
    monkeypatch.setenv("STACKCOST_ENGINE", str(path))


def test_failing_program_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "raise SystemExit('no such device: sc-load7')")
    with pytest.raises(StackcostError, match="ended with exit status 1: no such device: sc-load7"):
        AstfServer(wire_config(), tmp_path).start()


def test_a_program_that_another_one_ended_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "ended with exit status 0: astf-engine ready" reads as a success."""
    program(tmp_path, monkeypatch, "print('ready')")
    why = "exit status 0, because another program asked it to .*; its last words: ready"
    with pytest.raises(StackcostError, match=why):
        AstfServer(wire_config(), tmp_path).start()


def test_silent_program_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "import time; print('thinking', flush=True); time.sleep(300)")
    monkeypatch.setattr(astf_server, "START_LIMIT", 1.0)
    silent = AstfServer(wire_config(), tmp_path)
    with pytest.raises(StackcostError, match=r"did not listen on RPC port .* thinking"):
        silent.start()
    assert not alive(silent.process_id)


def test_port_of_another_program_is_not_taken_for_its_own() -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", LISTENER], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    other = subprocess.Popen(["sleep", "300"], start_new_session=True)
    try:
        assert holder.stdout is not None
        port = int(holder.stdout.readline())
        assert listens(holder.pid, port)
        assert not listens(other.pid, port)
    finally:
        for process in (holder, other):
            process.kill()
            process.wait()


def test_death_of_the_harness_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(
        tmp_path,
        monkeypatch,
        """
        import re, socket, sys, time
        text = open(sys.argv[2]).read()
        port = int(re.search(r"zmq_rpc_port: (.*)", text).group(1))
        listener = socket.create_server(("127.0.0.1", port))
        time.sleep(300)
        """,
    )
    harness = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    assert harness.stdout is not None
    started = int(harness.stdout.readline())
    assert alive(started)
    harness.send_signal(signal.SIGKILL)
    harness.communicate()
    assert wait_until(lambda: not alive(started), 5)


LISTENER = """
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
time.sleep(300)
"""

STARTER = """
import sys, time
from pathlib import Path
from stackcost.trex.astf_server import AstfServer
from tests.trex.conftest import wire_config
started = AstfServer(wire_config(), Path(sys.argv[1]))
started.start()
print(started.process_id, flush=True)
time.sleep(300)
"""


def test_folder_without_trex_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREX_HOME", str(tmp_path))
    with pytest.raises(StackcostError, match="contains no t-rex-64"):
        trex_home()


def test_wrong_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKCOST_ENGINE", "/nowhere/astf-engine")
    with pytest.raises(StackcostError, match="STACKCOST_ENGINE is /nowhere/astf-engine"):
        engine_path()
