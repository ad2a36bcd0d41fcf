"""Network namespaces: running programs in them, and finding and ending what runs there.

Programs enter by `ip netns exec`, which also mounts the namespace's own /sys, and by `taskset`.
Both replace themselves by the program, so the process id is the program's own, and nothing runs
between fork and exec in this process, which has threads.
"""

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import psutil

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import End
from stackcost.host.debian import PROGRAMS, install_command
from stackcost.host.timeouts import on_a_slow_host, scaled_timeout
from stackcost.host.waiting import wait_until


def hardware_address(end: End) -> str:
    """MAC address of one end."""
    return execute(end.namespace, ["cat", f"/sys/class/net/{end.interface}/address"]).strip()


OWN = ""  # in place of a namespace's name: that of this process
NAMESPACE_FOLDER = Path("/run/netns")
END_TIMEOUT_S = 3.0
EXECUTE_LIMIT_S = 30.0
CLONE_NEWNET = 0x40000000  # include/uapi/linux/sched.h


def run(
    namespace: str, command: Sequence[str], cpus: Iterable[int], **options: Any
) -> subprocess.Popen[Any]:
    """Start `command` in `namespace` on `cpus` and return at once.

    `options` go to subprocess.Popen. The program gets a session of its own unless told otherwise,
    so that Ctrl-C reaches the harness alone, which then ends everything in the right order.
    StackcostError when the program is not installed.
    """
    program = find_program(command[0])
    cpu_list = ",".join(str(cpu) for cpu in cpus)
    options.setdefault("start_new_session", True)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(
        [*_enter(namespace), "taskset", "--cpu-list", cpu_list, program, *command[1:]], **options
    )


def spawner(namespace: str, cpus: Iterable[int]) -> Callable[..., subprocess.Popen[Any]]:
    """`run` with namespace and cores settled: takes a command and Popen's options."""
    chosen = tuple(cpus)

    def spawn(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        return run(namespace, command, chosen, **options)

    return spawn


def execute(namespace: str, command: Sequence[str], stdin: str = "") -> str:
    """Run a short command in `namespace` to its end and return what it printed.

    StackcostError with the command's own words when it fails, or when it does not end in time.
    """
    program, limit = find_program(command[0]), scaled_timeout(EXECUTE_LIMIT_S)
    told = f"`{' '.join(command)}`" + ("" if namespace == OWN else f" in {namespace}")
    try:
        done = subprocess.run(
            [*_enter(namespace), program, *command[1:]],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        raise StackcostError(f"{told} did not end in {limit:g} s", on_a_slow_host()) from None
    if done.returncode:
        raise StackcostError(f"{told} failed: {done.stderr.strip()}")
    return done.stdout


def enter(namespace: str) -> None:
    """Move this thread, and what it starts, into `namespace` (setns(2))."""
    with (NAMESPACE_FOLDER / namespace).open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns of {namespace} failed")


def processes_inside(namespace: str) -> list[psutil.Process]:
    """Processes whose network namespace is this one, found by its inode; never this process."""
    try:
        wanted = (NAMESPACE_FOLDER / namespace).stat()
    except FileNotFoundError:
        return []
    found = []
    for process in psutil.process_iter():
        try:
            own = os.stat(f"/proc/{process.pid}/ns/net")
        except OSError:  # ended meanwhile
            continue
        if os.path.samestat(own, wanted) and process.pid != os.getpid():
            found.append(process)
    return found


def end_processes(processes: Sequence[psutil.Process]) -> None:
    """Terminate each process, and kill it after some seconds; returns when all have ended."""
    _signal(processes, signal.SIGTERM)
    _, alive = psutil.wait_procs(processes, timeout=END_TIMEOUT_S)
    _signal(alive, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=END_TIMEOUT_S)


def end_group(process: subprocess.Popen[Any], timeout_s: float = END_TIMEOUT_S) -> None:
    """End a program started by `run` with all its children; it may have ended by itself.

    A child that outlived its parent is ended as well: the group has the parent's number.
    """
    for number, wait in ((signal.SIGTERM, timeout_s), (signal.SIGKILL, END_TIMEOUT_S)):
        if _signal_group(process, number) and wait_until(
            lambda: not _signal_group(process, 0), wait
        ):
            return


def _signal_group(process: subprocess.Popen[Any], number: int) -> bool:
    """Send a signal (0: none); returns whether any process of the group still exists."""
    process.poll()  # reap, else the parent's zombie keeps its group alive
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True


def _signal(processes: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def _enter(namespace: str) -> list[str]:
    return [] if namespace == OWN else [find_program("ip"), "netns", "exec", namespace]


def find_program(name: str, hint: str = "") -> str:
    """Absolute path of a program; Debian keeps some in /usr/sbin, which a PATH may lack.

    StackcostError when it is not installed, with the command that installs it; `hint` is for a
    program that the suite does not know.
    """
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if path is None:
        known = PROGRAMS.get(name)
        raise StackcostError(
            f"{name} is not installed", install_command([known]) if known else hint
        )
    return os.path.abspath(path)
