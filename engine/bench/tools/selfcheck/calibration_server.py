"""A server of known cost on the kernel's stack; it is compiled when needed."""

import ctypes
import mmap
import os
from pathlib import Path
from statistics import median
from typing import Any

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import P256
from stackcost.contracts.server import ServerSettings
from stackcost.host.compiler import compile_program
from stackcost.servers.certificate import BOTH_FILE, make_certificate
from stackcost.servers.program import HttpProgram

SOURCE = Path(__file__).with_name("calibration_server.c")
LIBRARIES = ("ssl", "crypto")
BURNS = 65_536
PRIORITY = 1  # the same as that of the kernel threads that receive for it
PROBE_LOOPS = 100_000
PROBES = 20


class Control(ctypes.Structure):
    """struct Control of calibration_server.c."""

    _fields_ = [
        ("loops", ctypes.c_uint64),
        ("calls", ctypes.c_uint64),
        ("hold_bytes", ctypes.c_uint64),
        ("leave_unread", ctypes.c_uint64),
        ("requests", ctypes.c_uint64),
        ("burns", ctypes.c_uint64),
        ("burnt_ns", ctypes.c_uint32 * BURNS),
    ]


class CalibrationServer(HttpProgram):
    """Answers each request with `response_bytes`, after the busy loop of `set_burn`; one process.

    A connection may begin with TLS: then its handshake has the busy loop, and its requests none.
    `hold`: bytes of its own that it allocates and fills for each connection from then on.
    `leave_unread`: from then on it answers at once and leaves the request in the socket buffer.
    """

    name = "known-cost"

    def __init__(self, endpoint: Endpoint, settings: ServerSettings):
        super().__init__(endpoint, settings)
        self._control: Control | None = None
        self._loops_per_us = 0.0

    def write_files(self) -> None:
        """The program, its certificate, and what it shares with this process."""
        folder = self.endpoint.folder
        compile_program(SOURCE, folder / "calibration_server", LIBRARIES)
        make_certificate(folder, self.endpoint.address, P256)
        self._control = self._map_control(folder / "control")

    def command(self) -> list[str]:
        """All its settings are in its arguments."""
        where = self.endpoint
        arguments = [where.address, str(where.port), "control", BOTH_FILE]
        program = str(where.folder / "calibration_server")
        return [program, *arguments, str(self.settings.response_bytes)]

    def begin(self) -> None:
        """Other programs must not preempt it then: the cost of refilling caches is unknown."""
        super().begin()
        number = self._program.process_id
        assert number is not None
        os.sched_setscheduler(number, os.SCHED_FIFO, os.sched_param(PRIORITY))
        self._calibrate()

    def set_burn(self, microseconds: float) -> None:
        """Set the length of each busy loop; `burnt` returns the real length."""
        self._set().loops = round(microseconds * self._loops_per_us)

    def set_calls(self, number: int) -> None:
        """Set how often each busy loop calls getppid(2); that is in what `burnt` returns."""
        self._set().calls = number

    def hold(self, size: int, leave_unread: bool = False) -> None:
        """From now on hold `size` bytes for each connection; leave requests unread or not."""
        self._set().hold_bytes = size
        self._set().leave_unread = leave_unread

    def burnt(self, first: int, last: int) -> float:
        """Median microseconds of the busy loops number `first` to `last`, by its clock."""
        control = self._set()
        chosen = range(max(first, last - BURNS), last)
        return median(control.burnt_ns[number % BURNS] for number in chosen) / 1e3

    def requests_counted(self) -> int | None:
        """Requests answered since start."""
        return int(self._set().requests)

    @property
    def burns(self) -> int:
        """Busy loops since start, all of them."""
        return int(self._set().burns)

    def describe(self) -> dict[str, Any]:
        """With the speed of its busy loop."""
        return super().describe() | {"loops_per_microsecond": self._loops_per_us}

    def _set(self) -> Control:
        if self._control is None:
            raise StackcostError(f"{self.name} is not started")
        return self._control

    def _map_control(self, path: Path) -> Control:
        path.write_bytes(bytes(ctypes.sizeof(Control)))
        with path.open("r+b") as file:
            return Control.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(Control)))

    def _calibrate(self) -> None:
        self._set().loops = PROBE_LOOPS
        first = self.burns
        for _ in range(PROBES):
            self.response_length()
        self._loops_per_us = PROBE_LOOPS / self.burnt(first, self.burns)
        self.set_burn(0)
