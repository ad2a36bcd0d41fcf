"""Checks from outside a namespace whether a program, or its child, listens on a TCP port."""

import contextlib
import os
from pathlib import Path

from stackcost.host.open_files import targets, tcp_sockets

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
