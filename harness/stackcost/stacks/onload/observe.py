"""What can be seen of Onload at work: the output of its own tools, /proc, and the kernel's
counters.
"""

import contextlib
import json
import re
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import psutil

from stackcost.contracts.counts import Usage
from stackcost.contracts.errors import StackcostError
from stackcost.host.kernel_tables import counter_table
from stackcost.host.namespace import execute, find_program, processes_inside
from stackcost.host.open_files import targets, tcp_sockets
from stackcost.stacks.onload.installation import Installation

# Onload's, of its stacks together; and the kernel's, of the program's namespace.
ONLOAD_COUNTERS = (
    "rx_evs",
    "tx_evs",
    "ul_accepts",
    "sock_wakes_rx_os",
    "no_match_pass_to_kernel_tcp",
)
STACKS = ["onload_stackdump", "stacks"]
STATS = ["orm_json", "stats"]
CONTROL_PLANE = "onload_cp_server"
NAME_LENGTH = 15  # TASK_COMM_LEN less its end, include/linux/sched.h
KERNEL_COUNTERS = ("PassiveOpens", "ActiveOpens", "InSegs")


@dataclass(frozen=True, slots=True)
class Sockets:
    """TCP connections and listeners among a process's descriptors, by what carries them."""

    onload: int
    kernel: int


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation. `stacks`: ids of those that the processes have; `listening`: (address, port)
    that Onload accelerates; `onload`, `kernel`: counters by name, of these stacks and of the
    namespace; None where a tool said nothing of it.
    """

    sockets: Mapping[str, Sockets]
    stacks: frozenset[str]
    listening: frozenset[tuple[str, int]]
    onload: Mapping[str, int] | None
    kernel: Mapping[str, int]


def observe(
    installation: Installation, namespace: str, processes: Mapping[str, int]
) -> Observation:
    """Look at programs now; `processes`: their ids by role."""
    stacks = stacks_of(said(namespace, STACKS), processes.values())
    return Observation(
        sockets={role: _sockets(installation, number) for role, number in processes.items()},
        stacks=stacks,
        listening=listening(said(namespace, ["onload_stackdump", "filters"])),
        onload=counters(said(namespace, STATS), stacks),
        kernel=_kernel_counters(namespace),
    )


def stacks_of(said: str, processes: Collection[int]) -> frozenset[str]:
    """Ids of stacks that one of the processes has: the tools report all on the machine.

    By the table of stacks: id, name, then process ids with commas between.
    """
    rows = [line.split() for line in said.splitlines() if line[:1].isdigit()]
    wanted = {str(number) for number in processes}
    return frozenset(row[0] for row in rows if len(row) >= 3 and wanted & set(row[2].split(",")))


def listening(said: str) -> frozenset[tuple[str, int]]:
    """Listeners among the filters: those of any remote address that are accelerated."""
    found = re.findall(r"TCP (\S+):(\d+) 0\.0\.0\.0:0 .*\bACCELERATED\b", said)
    return frozenset((address, int(port)) for address, port in found)


def counters(said: str, stacks: Collection[str]) -> dict[str, int] | None:
    """ONLOAD_COUNTERS of these stacks together from orm_json's text; None when it has none."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        tables = [told for stack, told in stack_stats(said).items() if stack in stacks]
        if tables:
            return {name: sum(int(t[name]) for t in tables) for name in ONLOAD_COUNTERS}
    return None


def stack_stats(said: str) -> dict[str, dict[str, int]]:
    """Counters by stack from orm_json's text; errors of json, of types and keys when it is none."""
    return {
        name: stack["stats"]
        for entry in json.loads(said)["json"]
        for name, stack in entry.items()
        if name != "all"  # their sum
    }


def accept_queue(said: str, port: int) -> Usage | str:
    """Sums over the listeners of a port in orm_json's text of sockets; in words why there are none.

    A listener counts connections that came in and that went out, in 32 bits each. Only listeners
    are decoded: the text has each connection, too, of which there may be ten thousands.
    """
    found = []
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        for match in re.finditer(r'"tcp_listen":\s*', said):
            listeners, _ = json.JSONDecoder().raw_decode(said, match.end())
            for each in listeners.values():
                listener = each["tcp_listen_sockets"]
                if listener["s"]["cp"]["lport"] == port:
                    waiting = (listener["acceptq_n_in"] - listener["acceptq_n_out"]) % 2**32
                    found.append(Usage(waiting, listener["acceptq_max"]))
    if not found:
        return f"orm_json reports no listener of port {port} on Onload"
    return Usage(sum(each.now for each in found), sum(each.limit for each in found))


def control_plane(namespace: str) -> dict[str, int]:
    """Process ids by role of the control-plane server of a namespace, while a stack is there.

    The kernel keeps 15 characters of a program's name, and these identify a task.
    """
    found = {}
    for process in processes_inside(namespace):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.name()[:NAME_LENGTH] == CONTROL_PLANE[:NAME_LENGTH]:
                found[CONTROL_PLANE] = process.pid
    return found


def kernel_log() -> list[str]:
    """The kernel's messages, oldest first; none where they may not be read."""
    try:
        done = subprocess.run([find_program("dmesg")], capture_output=True, text=True, timeout=10)
    except (StackcostError, OSError):
        return []
    return done.stdout.splitlines()


def said(namespace: str, command: list[str]) -> str:
    """What a tool says; nothing when it fails, as it does without any stack."""
    try:
        return execute(namespace, command)
    except StackcostError:
        return ""


def _sockets(installation: Installation, process: int) -> Sockets:
    """By the targets of /proc/PID/fd: onload:[tcpl:0:2047], or socket:[12698] when of the kernel.

    Of the latter those count that the kernel lists as TCP, for a program has others.
    """
    folder = installation.root / f"proc/{process}"
    kernel = _kernel_tcp(folder)
    found = list(targets(folder))
    return Sockets(
        sum(target.startswith("onload:[tcp") for target in found),
        sum(target in kernel for target in found),
    )


def _kernel_tcp(process: Path) -> set[str]:
    """The kernel's TCP sockets of the process's namespace, as /proc/PID/fd names them.

    Those between addresses of the loopback are left out: no stack beside the kernel carries them.
    """
    return {
        f"socket:[{columns[9]}]"
        for columns in tcp_sockets(process)
        if not _is_loopback(columns[1].partition(":")[0])
    }


def _is_loopback(text: str) -> bool:
    """Of an IPv4 address as /proc/net/tcp writes it, in the machine's byte order."""
    return len(text) == 8 and IPv4Address(bytes.fromhex(text)[::-1]).is_loopback


def _kernel_counters(namespace: str) -> dict[str, int]:
    """KERNEL_COUNTERS of the namespace; none where they cannot be read."""
    with contextlib.suppress(ValueError):
        table = counter_table(said(namespace, ["cat", "/proc/net/snmp"]), "Tcp")
        return {name: table[name] for name in KERNEL_COUNTERS}
    return {}
