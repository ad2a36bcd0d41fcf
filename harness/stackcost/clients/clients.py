"""Runs several client processes at once, each pinned to a core, and adds up their results."""

import os
import resource
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from stackcost.clients.program import LoadProgram, LoadRequest, LoadResult
from stackcost.clients.times import encoded
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import HttpCounts, SecondsByMode
from stackcost.contracts.placement import Placement
from stackcost.contracts.stack import Stack
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import end_group, find_program
from stackcost.host.timeouts import scaled_timeout
from stackcost.host.waiting import wait_until

TIMEOUT_S = 15.0  # wait for responses that are still outstanding at the end
SPARE_FILES = 100


@dataclass(frozen=True, slots=True)
class Addresses:
    """Client addresses. The kernel uses each of them for the processes of one user id.

    Only ab can choose its source address, so routing rules choose it by the user id.
    """

    first_user: int
    addresses: tuple[str, ...]

    def user(self, process: int) -> int:
        """The user id of the n-th process."""
        return self.first_user + process % len(self.addresses)


class Clients:
    """Client processes of one program, started together. A context manager: its exit ends them.

    `folder`: for their output and files. `cpus`: each process is pinned to one, in turn.
    `stack`: the network stack that starts them; None: the kernel's.
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
        find_program(self.program.program)
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
        """Process ids of all client processes."""
        return [process.pid for process in self._processes]

    def all_run(self) -> bool:
        """Whether all processes still run; StackcostError if one failed."""
        ended = [_status(process) for process in self._processes]
        for at, status in enumerate(ended):
            if status:
                raise StackcostError(
                    f"client {at} ({self.program.name}) ended with exit status {status}: "
                    f"{self._printed(at)[-300:]}",
                    f"see {self._place(at)}",
                )
        return all(status is None for status in ended)

    def wait(self) -> list[LoadResult]:
        """Wait for the end of all processes and return their results; StackcostError on failure."""
        longest = max(request.seconds for request in self._requests)
        left = set(range(len(self._processes)))

        def ended() -> bool:
            left.difference_update([at for at in left if self._reaped(at)])
            return not left

        if not wait_until(ended, longest + scaled_timeout(TIMEOUT_S)):
            self.end()
            late = min(left)
            raise StackcostError(
                f"client {late} ({self.program.name}) did not end in time",
                f"see {self._place(late)}",
            )
        return [self._read(at, request) for at, request in enumerate(self._requests)]

    def cpu_seconds(self) -> SecondsByMode:
        """User and system time of all ended processes, as the kernel accounts it."""
        user = sum(user for user, _ in self._cpu_times)
        return {"user": user, "system": sum(system for _, system in self._cpu_times)}

    def end(self) -> None:
        """End all processes now; may be called at any time."""
        for process in self._processes:
            if process.returncode is None:
                end_group(process)

    def _start(self, at: int, request: LoadRequest) -> subprocess.Popen[Any]:
        folder = self._place(at)
        folder.mkdir(parents=True, exist_ok=True)
        command = self.program.command(request, folder)
        files = request.connections + SPARE_FILES
        # The highest limit: at a constant rate many new connections may be open at once.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if most < files:
            raise StackcostError(
                f"a client with {request.connections:,} connections needs {files:,} open files, "
                f"but the hard limit of this machine is {most:,}",
                "raise the hard limit (ulimit -Hn), or use more processes with fewer connections",
            )
        rights = "+dac_override"  # the user id only selects the address; files belong to root
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
        """Whether this process has ended; if so its CPU time is recorded."""
        process = self._processes[at]
        try:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
        except ChildProcessError as error:
            raise StackcostError(f"client {at} ({self.program.name}) has disappeared") from error
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            self._cpu_times.append((used.ru_utime, used.ru_stime))
        return bool(ended)

    def _read(self, at: int, request: LoadRequest) -> LoadResult:
        printed, status = self._printed(at), self._processes[at].returncode
        try:
            if status < 0:
                raise ValueError(f"signal {-status} ended it")
            return self.program.read(request, self._place(at), printed)
        except (ValueError, OSError) as error:
            raise StackcostError(
                f"client {at} ({self.program.name}) ended with exit status {status} and no result: "
                f"{error}",
                f"see {self._place(at)}",
            ) from error

    def _place(self, at: int) -> Path:
        return self._folder / f"{self.program.name}-{at}"

    def _printed(self, at: int) -> str:
        return (self._place(at) / "output").read_text(errors="replace")


def _status(process: subprocess.Popen[Any]) -> int | None:
    """A process's exit status, negative for a signal, None while it runs.

    The process is not reaped, because the kernel reports its CPU time only once.
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
    """Times of the requests of all processes as encoded histograms, by kind of time."""
    kinds = dict.fromkeys(kind for each in results for kind in each.times)
    return {
        kind: encoded([each.times[kind] for each in results if kind in each.times])
        for kind in kinds
    }
