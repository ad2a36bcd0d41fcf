"""Drops and inspects the kernel's page cache of files; access to the files is enough."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from stackcost.host.namespace import find_program

AT_ONCE = 500  # files in one command line


def drop(files: Iterable[Path]) -> None:
    """Write back dirty pages and drop the page cache of these files only."""
    os.sync()
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def resident_bytes(files: Iterable[Path]) -> int:
    """Bytes of these files that are in memory now (mincore, by util-linux's fincore)."""
    paths = [str(path) for path in files]
    command = [find_program("fincore"), "--bytes", "--noheadings", "--output", "RES"]
    total = 0
    for first in range(0, len(paths), AT_ONCE):
        done = subprocess.run(
            [*command, *paths[first : first + AT_ONCE]], capture_output=True, text=True
        )
        total += sum(int(number) for number in done.stdout.split())
    return total
