"""Writes files atomically: a file exists completely or not at all, even after a crash.

What is written here has reached the disk when the call returns: the file's bytes before its name,
and its name before the return (fsync(2) of the file, rename(2), fsync(2) of the folder).
"""

import errno
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from stackcost.contracts.errors import StackcostError

# A link in the file's place is not followed: it may lead to any file of the machine.
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_whole(path: Path, content: bytes) -> None:
    """Write or replace a file: under another name first, which then takes its place.

    StackcostError on failure; the old file then still exists.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)
        _write_new(unfinished, content)
        os.replace(unfinished, path)
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            os.unlink(unfinished)
        raise _explained(error, path, len(content)) from error


def read_whole(path: Path) -> bytes:
    """The bytes of a regular file; OSError for a link, a pipe or a device."""
    descriptor = os.open(path, READ)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return file.read()


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing. FileExistsError when it is there."""
    if not path.parent.exists():
        with suppress(FileExistsError):
            make_folder(path.parent)
    os.mkdir(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has no such call
            raise
    finally:
        os.close(descriptor)


def _write_new(path: Path, content: bytes) -> None:
    descriptor = os.open(path, CREATE, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explained(error: OSError, path: Path, needed: int) -> StackcostError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(path.parent).free
        return StackcostError(
            f"no space left for {path}: it needs {needed:,} bytes, but only {free:,} are free",
            f"free some space, or write to another disk; to see its use: df -h {path.parent}",
        )
    if error.errno == errno.EIO:
        return StackcostError(
            f"cannot write {path}: the disk reports an input/output error",
            "see the kernel's messages: dmesg | tail; write to another disk (--results)",
        )
    return StackcostError(
        f"cannot write {path}: {error.strerror}", f"see its permissions: ls -ld {path.parent}"
    )
