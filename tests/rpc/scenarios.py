"""Drives an engine by scenarios, in a process of their own: TRex's client takes seconds to import,
and brings a scapy of its own.
"""

import os
import select
import subprocess
import sys
import tempfile
from typing import Self

from stackcost.host.namespace import end_group
from stackcost.trex.astf_server import AstfServer
from tests.trex.conftest import REPOSITORY

TIMEOUT_S = 90


class Scenarios:
    """The process of one module, such as "client_scenarios". A context manager."""

    def __init__(self, module: str) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115, closed on exit
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.rpc.forked", module],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            bufsize=0,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self._process)
        self._process.communicate()
        self._said.close()

    def drive(self, engine: AstfServer, scenario: str, *arguments: int) -> None:
        """Run one against `engine`, which has to live on; what it says is told when it fails."""
        assert self._process.stdin is not None and self._process.stdout is not None
        began = self._said.seek(0, os.SEEK_END)
        ports = engine.config.rpc_port, engine.config.async_port
        line = " ".join([scenario, *map(str, (*ports, *arguments))])
        self._process.stdin.write(f"{line}\n".encode())
        if select.select([self._process.stdout], [], [], TIMEOUT_S)[0]:
            status = self._process.stdout.readline()
        else:
            status = b"it came to no end"
            end_group(self._process)
        self._said.seek(began)
        assert status == b"0\n", f"{status!r}: {self._said.read().decode(errors='replace')}"
        engine.check()
