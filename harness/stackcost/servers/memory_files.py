"""Files that a server serves from memory; they disappear when it ends.

`ip netns exec` gives a program its own mount namespace, so a tmpfs that is mounted there is
invisible to other programs, and the kernel frees it when the last process inside has ended.
"""

import shlex
from collections.abc import Mapping, Sequence

SPARE_BYTES = 16 << 20


def with_memory_files(folder: str, files: Mapping[str, int], command: Sequence[str]) -> list[str]:
    """`command` with a tmpfs on `folder` that has these files of zeros; length by path.

    The shell that runs first executes the command in its place, so the process id is the command's.
    """
    size = sum(files.values()) + SPARE_BYTES
    place = shlex.quote(folder)
    lines = [
        "set -e",
        f"mount -t tmpfs -o size={size},noatime stackcost {place}",
        *(
            f"head -c {length} /dev/zero > {place}{shlex.quote(path)}"
            for path, length in files.items()
        ),
        f"exec {shlex.join(command)}",
    ]
    return ["sh", "-c", "\n".join(lines)]
