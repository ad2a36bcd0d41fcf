"""Checks from outside a namespace whether a program, or its child, listens on a TCP port."""

import contextlib
import os
from pathlib import Path

LISTEN = "0A"  # TCP_LISTEN of the kernel's include/net/tcp_states.h


def listens(session: int, port: int) -> bool:
    """Whether a process of this session listens on TCP `port`, on any address.

    The kernel's table (/proc/<pid>/net/tcp) is that of the process's network namespace; comparing
    socket inodes tells this program's port from one that something else there holds.
    """
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(session, port)}
    return bool(sockets) and any(
        not sockets.isdisjoint(_open_files(process)) for process in _processes_of(session)
    )


def _listening_inodes(process: int, port: int) -> list[str]:
    inodes = []
    for table in ("tcp", "tcp6"):
        lines: list[str] = []
        with contextlib.suppress(OSError):  # it has ended, or this kernel has no IPv6
            lines = Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]
        for fields in map(str.split, lines):
            if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.append(fields[9])
    return inodes


def _processes_of(session: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(ProcessLookupError):
            if name.isdigit() and os.getsid(int(name)) == session:
                found.append(int(name))
    return found


def _open_files(process: int) -> set[str]:
    files = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{process}/fd"):
            with contextlib.suppress(OSError):
                files.add(os.readlink(entry))
    return files
