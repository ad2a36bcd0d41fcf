"""How many files and sockets a process has open, counted without leaving anything in the kernel.

A list of /proc/PID/fd makes an inode and a dentry for each descriptor (fs/proc/fd.c,
proc_readfd_common). They stay until the process ends, and memory that is read later contains them.
"""

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
    """The same on every kernel: listed in a mount of /proc that exists for this list alone.

    What the list makes in the kernel belongs to that mount and goes with it (Linux 5.8 and later).
    """
    folder = f"/proc/{process}/fd"
    return len(execute(OWN, ["unshare", "--mount", "--mount-proc", "ls", "-U", folder]).split())
