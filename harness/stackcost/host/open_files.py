"""The files and sockets that a process has open; they are counted without a trace in the kernel.

A list of /proc/PID/fd makes an inode and a dentry for each descriptor (fs/proc/fd.c,
proc_readfd_common). They stay until the process ends, and memory that is read later contains them.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from stackcost.host.namespace import OWN, execute


def open_files(process: int) -> int:
    """From the size of /proc/PID/fd, which Linux 6.2 and later tell.

    FileNotFoundError when the process has ended. StackcostError when an older kernel lets nobody
    count (without root).
    """
    if not Path("/proc/self/fd").stat().st_size:
        return listed_open_files(process)
    return Path(f"/proc/{process}/fd").stat().st_size


def listed_open_files(process: int) -> int:
    """Open files on any kernel: listed in a mount of /proc that exists for this list alone.

    What the list makes in the kernel belongs to that mount and goes with it (Linux 5.8 and later).
    """
    folder = f"/proc/{process}/fd"
    return len(execute(OWN, ["unshare", "--mount", "--mount-proc", "ls", "-U", folder]).split())


def targets(process: Path) -> Iterator[str]:
    """What the descriptors of a process are of, such as "socket:[12698]"; none once it has ended.

    `process`: its folder in /proc.
    """
    with contextlib.suppress(OSError):  # it has ended
        for entry in os.scandir(process / "fd"):
            with contextlib.suppress(OSError):  # closed meanwhile
                yield os.readlink(entry.path)


def tcp_sockets(process: Path) -> Iterator[list[str]]:
    """The columns of each TCP socket of the kernel in the network namespace of a process."""
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):  # it has ended, or this kernel has no IPv6
            yield from map(str.split, (process / "net" / table).read_text().splitlines()[1:])
