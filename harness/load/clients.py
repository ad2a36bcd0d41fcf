"""Several client processes at once, each pinned and with an address of its own; their sum."""

import os
import resource
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import HttpCounts, SecondsByMode
from stackcost.contracts.placement import Placement
from stackcost.contracts.stack import Stack
from stackcost.harness.load.program import LoadProgram, LoadRequest, LoadResult
from stackcost.harness.load.times import encoded
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import end_group, find_program
from stackcost.host.patience import patient
from stackcost.host.waiting import wait_until

PATIENCE_S = 15.0  # for answers that are still under way when the time is over
SPARE_FILES = 100


@dataclass(frozen=True, slots=True)
class Addresses:
    """Client addresses, each of which the kernel gives to the processes of one user number.

    None of the programs but ab can choose its address, so the routes choose by who asks.
    """

    first_user: int
    addresses: tuple[str, ...]

    def user(self, process: int) -> int:
        """The user number that the n-th process runs under."""
        return self.first_user + process % len(self.addresses)


class Clients:
    """Client processes of one program, started together. A context manager: leaving it ends them.

    `folder`: takes what they print and write. `cpus`: each process is pinned to one, in turn.
    `stack`: what they are started by; None: the kernel's.
    """

    def __init__(
        self,
        program: LoadProgram,
        requests: Sequence[LoadRequest],
        namespace: str,
        cpus: Sequence[int],
        addresses: Addresses,
        folder: Path,
        stack: Stack | None = None,
    ):
        self.program = program
        self._requests = requests
        self._cpus = cpus
        self._addresses = addresses
        self._folder = folder
        self._stack = stack or Kernel(Placement(namespace, "", tuple(cpus), folder))
        self._processes: list[subprocess.Popen[Any]] = []
        self._cpu_times: list[tuple[float, float]] = []

    def __enter__(self) -> Self:
        find_program(self.program.name)
        try:
            for at, request in enumerate(self._requests):
                self._processes.append(self._start(at, request))
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    @property
    def process_ids(self) -> list[int]:
        """Of all client processes."""
        return [process.pid for process in self._processes]

    def all_run(self) -> bool:
        """Whether none has come to its end; StackcostError when one failed."""
        ended = [_status(process) for process in self._processes]
        for at, status in enumerate(ended):
            if status:
                raise StackcostError(
                    f"{self.program.name}, client {at}, ended with status {status}: "
                    f"{self._printed(at)[-300:]}",
                    f"see {self._place(at)}",
                )
        return all(status is None for status in ended)

    def wait(self) -> list[LoadResult]:
        """What each told once all have come to their end; StackcostError when one does not."""
        longest = max(request.seconds for request in self._requests)
        left = set(range(len(self._processes)))

        def ended() -> bool:
            left.difference_update([at for at in left if self._reaped(at)])
            return not left

        if not wait_until(ended, longest + patient(PATIENCE_S)):
            self.end()
            late = min(left)
            raise StackcostError(
                f"{self.program.name}, client {late}, did not end in its time",
                f"see {self._place(late)}",
            )
        return [self._read(at, request) for at, request in enumerate(self._requests)]

    def cpu_seconds(self) -> SecondsByMode:
        """User and system time of all that have come to their end, as the kernel accounts it."""
        user = sum(user for user, _ in self._cpu_times)
        return {"user": user, "system": sum(system for _, system in self._cpu_times)}

    def end(self) -> None:
        """End all of them now; may be called at any time."""
        for process in self._processes:
            if process.returncode is None:
                end_group(process)

    def _start(self, at: int, request: LoadRequest) -> subprocess.Popen[Any]:
        folder = self._place(at)
        folder.mkdir(parents=True, exist_ok=True)
        command = self.program.command(request, folder)
        files = request.connections + SPARE_FILES
        # All that is allowed: at a rate new connections may pile up.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if most < files:
            raise StackcostError(
                f"a client with {request.connections:,} connections needs {files:,} open files, "
                f"and this machine allows {most:,}",
                "raise the hard limit (ulimit -Hn), or give fewer connections to more processes",
            )
        rights = "+dac_override"  # the user number is for the address alone: files are as root's
        with (folder / "output").open("wb") as output:
            return self._stack.run(
                [
                    *("prlimit", f"--nofile={most}:{most}", "setpriv"),
                    *("--reuid", str(self._addresses.user(at)), "--clear-groups"),
                    *("--inh-caps", rights, "--ambient-caps", rights),
                    *("setpriv", "--pdeathsig", "KILL", "--"),  # ends when the harness does
                    *command,
                ],
                [self._cpus[at % len(self._cpus)]],
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _reaped(self, at: int) -> bool:
        """Whether this one has ended; what it used is kept then."""
        process = self._processes[at]
        try:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
        except ChildProcessError as error:
            raise StackcostError(f"{self.program.name}, client {at}, is gone") from error
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            self._cpu_times.append((used.ru_utime, used.ru_stime))
        return bool(ended)

    def _read(self, at: int, request: LoadRequest) -> LoadResult:
        printed, status = self._printed(at), self._processes[at].returncode
        try:
            if status < 0:
                raise ValueError(f"it was ended by signal {-status}")
            return self.program.read(request, self._place(at), printed)
        except (ValueError, OSError) as error:
            raise StackcostError(
                f"{self.program.name}, client {at}, ended with status {status} and no result: "
                f"{error}",
                f"see {self._place(at)}",
            ) from error

    def _place(self, at: int) -> Path:
        return self._folder / f"{self.program.name}-{at}"

    def _printed(self, at: int) -> str:
        return (self._place(at) / "output").read_text(errors="replace")


def _status(process: subprocess.Popen[Any]) -> int | None:
    """A process's exit status, negative for a signal, None while it runs; it is left to be waited
    for, as its CPU time is told only once.
    """
    ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def counts_of(
    results: Sequence[LoadResult], latency_means: str, cpu_seconds: SecondsByMode
) -> HttpCounts:
    """The sum over all processes, for a trial's record."""
    causes = dict.fromkeys(cause for each in results for cause in each.failed)
    return HttpCounts(
        requests=sum(each.requests for each in results),
        rate=sum(each.rate for each in results),
        bits_per_second=sum(8 * each.received / each.seconds for each in results if each.seconds),
        failed={cause: sum(each.failed.get(cause, 0) for each in results) for cause in causes},
        unsent=sum(each.unsent for each in results),
        latency_means=latency_means,
        cpu_seconds=cpu_seconds,
    )


def latency_of(results: Sequence[LoadResult]) -> dict[str, str]:
    """Times of the requests of all processes as an encoded histogram, by what they begin with."""
    kinds = dict.fromkeys(kind for each in results for kind in each.times)
    return {
        kind: encoded([each.times[kind] for each in results if kind in each.times])
        for kind in kinds
    }
