"""A server of known cost on the kernel's stack; it is compiled when needed."""

import ctypes
import mmap
import os
from pathlib import Path
from statistics import median
from typing import Any, Self

from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import P256
from stackcost.contracts.server import Server, ServerSettings
from stackcost.host.compiler import compile_program
from stackcost.host.namespace import spawner
from stackcost.host.program import Program
from stackcost.servers.certificate import BOTH_FILE, make_certificate
from stackcost.servers.probe import ask, ensure_port_free

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


class CalibrationServer(Server):
    """Answers each request with `response_bytes`, after the busy loop of `set_burn`; one process.

    A connection may begin with TLS: then its handshake has the busy loop, and its requests none.
    `hold`: bytes of its own that it allocates and fills for each connection from then on.
    `leave_unread`: from then on it answers at once and leaves the request in the socket buffer.
    """

    name = "known-cost"

    def __init__(self, endpoint: Endpoint, response_bytes: int = 100, request: bytes = b"\r\n\r\n"):
        self._endpoint = endpoint
        self._response_bytes = response_bytes
        self._request = request
        self._program = Program(self.name, endpoint.folder / "error.log")
        self._control: Control | None = None
        self._own_requests = 0
        self._loops_per_us = 0.0

    @classmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """The server for an experiment, with no busy loop and no held memory yet."""
        return cls(endpoint, settings.response_bytes)

    def start(self) -> None:
        """Compile and start it, wait until it answers, and calibrate its busy loop."""
        self.stop()
        where = self._endpoint
        where.folder.mkdir(parents=True, exist_ok=True)
        ensure_port_free(where.namespace, where.address, where.port)
        program = where.folder / "calibration_server"
        compile_program(SOURCE, program, LIBRARIES)
        make_certificate(where.folder, where.address, P256)
        self._control = self._map_control(where.folder / "control")
        files = [str(where.folder / name) for name in ("control", BOTH_FILE)]
        arguments = [where.address, str(where.port), *files]
        try:
            command = [str(program), *arguments, str(self._response_bytes)]
            self._program.start(spawner(where.namespace, where.cpus), command)
            # Other programs must not preempt it: the cost of refilling caches is unknown.
            number = self._program.process_id
            assert number is not None
            os.sched_setscheduler(number, os.SCHED_FIFO, os.sched_param(PRIORITY))
            if not self._program.wait_until_up(self._answers):
                raise self._program.start_error()
            self._calibrate()
        except BaseException:
            self.stop()
            raise

    @property
    def namespace(self) -> str:
        """The endpoint where it runs."""
        return self._endpoint.namespace

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

    def check_health(self) -> None:
        """One request must bring the whole response."""
        if self.response_length() != self._response_bytes:
            raise StackcostError(f"{self.name} did not answer with {self._response_bytes} bytes")

    def response_length(self) -> int:
        """Bytes of headers and body in answer to a real request."""
        where = self._endpoint
        self._own_requests += 1
        return ask(where.namespace, where.address, where.port, self._request).length

    def processes(self) -> dict[str, int]:
        """The one process."""
        number = self._program.process_id
        return {"worker-0": number} if number is not None and self._program.runs else {}

    def requests_served(self) -> int | None:
        """Requests answered since start, without those made here."""
        return int(self._set().requests) - self._own_requests

    @property
    def burns(self) -> int:
        """Busy loops since start, all of them."""
        return int(self._set().burns)

    def describe(self) -> dict[str, Any]:
        """Program and endpoint."""
        return {
            "name": self.name,
            "cpus": list(self._endpoint.cpus),
            "response_bytes": self._response_bytes,
            "loops_per_microsecond": self._loops_per_us,
        }

    def stop(self) -> None:
        """End it; may be called at any time, more than once."""
        self._program.end()
        self._own_requests = 0

    def _set(self) -> Control:
        if self._control is None:
            raise StackcostError(f"{self.name} is not started")
        return self._control

    def _map_control(self, path: Path) -> Control:
        path.write_bytes(bytes(ctypes.sizeof(Control)))
        with path.open("r+b") as file:
            return Control.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(Control)))

    def _answers(self) -> bool:
        try:
            self.check_health()
        except StackcostError:
            self._own_requests -= 1
            return False
        return True

    def _calibrate(self) -> None:
        self._set().loops = PROBE_LOOPS
        first = self.burns
        for _ in range(PROBES):
            self.response_length()
        self._loops_per_us = PROBE_LOOPS / self.burnt(first, self.burns)
        self.set_burn(0)
