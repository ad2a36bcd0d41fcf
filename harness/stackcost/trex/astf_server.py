"""Starts and ends one ASTF server: astf-engine, or TRex itself when TREX_HOME names one."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from stackcost.contracts.errors import StackcostError
from stackcost.files import ENGINE
from stackcost.host.liveness import check_family, descendants
from stackcost.host.namespace import end_group
from stackcost.host.open_files import targets, tcp_sockets
from stackcost.host.timeouts import on_a_slow_host, scaled_timeout
from stackcost.host.waiting import wait_until
from stackcost.trex.process import Spawn, last_lines, spawn_here
from stackcost.trex.trex_config import TrexConfig

LISTEN = "0A"  # TCP_LISTEN of the kernel's include/net/tcp_states.h


def listens(session: int, port: int) -> bool:
    """Whether a process of this session listens on TCP `port`, on any address.

    The kernel's table (/proc/<pid>/net/tcp) is that of the process's network namespace; comparing
    socket inodes tells this program's port from one that something else there holds.
    """
    sockets = {
        f"socket:[{columns[9]}]"
        for columns in tcp_sockets(Path(f"/proc/{session}"))
        if columns[3] == LISTEN and int(columns[1].rpartition(":")[2], 16) == port
    }
    return bool(sockets) and any(
        not sockets.isdisjoint(targets(Path(f"/proc/{process}")))
        for process in _processes_of(session)
    )


def _processes_of(session: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(ProcessLookupError):
            if name.isdigit() and os.getsid(int(name)) == session:
                found.append(int(name))
    return found


START_LIMIT = 60.0  # seconds; TRex resolves gateways and waits for links before it listens
# Of exit status 0, though the harness did not end it.
ASKED = ", because another program asked it to (SIGTERM, SIGINT); its last words"
END_TIMEOUT = 10.0  # seconds between asking it to end and making it


def trex_home() -> Path | None:
    """The folder of TRex that TREX_HOME names, None when it is not set.

    StackcostError if it contains no t-rex-64.
    """
    named = os.environ.get("TREX_HOME")
    if not named:
        return None
    home = Path(named).resolve()
    if not (home / "t-rex-64").is_file():
        raise StackcostError(
            f"TREX_HOME is {named}, but this folder contains no t-rex-64",
            "set it to the folder of the unpacked TRex, or unset it to use astf-engine",
        )
    return home


def engine_path() -> Path:
    """The path of astf-engine: STACKCOST_ENGINE, or the suite's own engine."""
    named = os.environ.get("STACKCOST_ENGINE")
    path = Path(named) if named else ENGINE
    if path.is_file():
        return path.resolve()
    raise StackcostError(
        f"STACKCOST_ENGINE is {named}, which is not a file"
        if named
        else "astf-engine is not built",
        "to build build/engine/astf-engine, run: script/bootstrap",
    )


class AstfServer:
    """One ASTF server process. A context manager; leaving it ends the process and its children.

    `folder` receives its configuration (<name>.yaml) and all it prints (<name>.log). `spawn` starts
    it in its namespace. It ends when the thread that started it ends.
    """

    def __init__(self, config: TrexConfig, folder: Path, spawn: Spawn = spawn_here):
        self._spawn = spawn
        self._trex_home = trex_home()
        self.config = replace(config, for_trex=self._trex_home is not None)
        self._file = (folder / f"{config.name}.yaml").resolve()
        self._log = (folder / f"{config.name}.log").resolve()
        self._process: subprocess.Popen[Any] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def argv(self) -> list[str]:
        """The command line. TRex: interactive ASTF, silent, not reading a keyboard."""
        common = ["--cfg", str(self._file), "-c", str(self.config.data_cores)]
        if not self.config.segmentation_offload:
            common.append("--tso-disable")
        if self._trex_home:
            trex = str(self._trex_home / "t-rex-64")
            return [trex, "-i", "--astf", *common, "--iom", "0", "--no-key"]
        return [str(engine_path()), *common]

    @property
    def process_id(self) -> int:
        """Process id of the program started; t-rex-64 is a script with the real one as a child."""
        if self._process is None:
            raise StackcostError(f"{self.config.name} is not started")
        return self._process.pid

    @property
    def process_ids(self) -> dict[str, int]:
        """Process ids by role: the program started, and all that it has started."""
        children = enumerate(descendants(self.process_id), 1)
        return {"engine": self.process_id} | {f"engine-{at}": each.pid for at, each in children}

    def start(self) -> None:
        """Write the configuration, start, and return once the RPC port listens.

        StackcostError with the program's output if it ends or does not start in time;
        nothing is left running then.
        """
        self.config.write(self._file)
        with self._log.open("wb") as log:
            self._process = self._spawn(
                ["setpriv", "--pdeathsig", "KILL", "--", *self.argv],  # ends when the harness dies
                cwd=self._trex_home,  # t-rex-64 finds its parts from there
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def check(self) -> None:
        """StackcostError if it has ended by itself, or if one of its processes is stopped."""
        self._check_ended()
        if self._process is not None:
            check_family(self._process.pid, f"{self.config.name} has failed: its program")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Inside, an error of the client is reported as the end of the program, if it has ended.

        The client itself only sees that nothing answers, after some seconds. If the program has
        ended before, this is an error at once.
        """
        self._check_ended()
        try:
            yield
        except StackcostError as error:
            try:
                self.check()
            except StackcostError as cause:
                raise cause from error
            raise

    def _check_ended(self) -> None:
        status = self._process.poll() if self._process else None
        if status is not None:
            words = last_lines(self._log) or "it printed nothing"
            why = "" if status else ASKED
            raise StackcostError(
                f"{self.config.name} ended with exit status {status}{why}: {words}"
            )

    def stop(self) -> None:
        """End it with all its children; may be called at any time, more than once."""
        if self._process is not None:
            end_group(self._process, END_TIMEOUT)

    def describe(self) -> dict[str, Any]:
        """Program, command line and configuration, for the manifest."""
        return {
            "program": "t-rex-64" if self._trex_home else "astf-engine",
            "command": self.argv,
            "configuration": self._file.read_text() if self._file.exists() else None,
        }

    def _wait_until_ready(self) -> None:
        if not wait_until(self._listens, scaled_timeout(START_LIMIT)):
            raise StackcostError(
                f"{self.config.name} did not listen on RPC port {self.config.rpc_port} within "
                f"{scaled_timeout(START_LIMIT):g} s; it printed: "
                f"{last_lines(self._log) or 'nothing'}",
                on_a_slow_host(),
            )

    def _listens(self) -> bool:
        there = listens(self.process_id, self.config.rpc_port)
        if not there:
            self.check()
        return there
