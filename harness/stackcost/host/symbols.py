"""Names of functions: the kernel's by /proc/kallsyms, a program's by the symbols of its files."""

import bisect
import functools
import platform
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import RETURNS, UNNAMED

KALLSYMS = Path("/proc/kallsyms")
FUNCTION = 2  # STT_FUNC, elf.h
SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
LOADED = 1  # PT_LOAD
CALLS = {"x86_64": b"\x0f\x05", "aarch64": b"\x01\0\0\xd4"}  # SYSCALL; SVC #0


class Names(NamedTuple):
    """Functions in order of their addresses. `ends`: 0 where only the next one's start tells."""

    starts: Sequence[int]
    ends: Sequence[int]
    names: Sequence[str]

    def at(self, address: int) -> str:
        """The function that an address lies in; empty if none does."""
        place = bisect.bisect_right(self.starts, address) - 1
        if place < 0 or (self.ends[place] and address >= self.ends[place]):
            return ""
        return self.names[place]


def kernel_names(path: Path = KALLSYMS) -> Names:
    """The kernel's functions, its modules' and its BPF programs' as they are now.

    StackcostError if their addresses are hidden.
    """
    found = []
    for line in path.read_text().splitlines():
        address, kind, name, *_ = line.split()
        if kind in "tTwW" and not name.startswith("__pfx_"):  # padding before a function
            found.append((int(address, 16), name))
    if not any(address for address, _ in found):
        raise StackcostError(
            "the kernel hides the addresses of its functions (kptr_restrict)",
            "sysctl kernel.kptr_restrict=0, and run as root",
        )
    found.sort()
    starts, names = zip(*found, strict=True)
    return Names(starts, [0] * len(starts), names)


class Mapped(NamedTuple):
    """A part of a program's memory that has the code of a file."""

    start: int
    end: int
    offset: int
    path: str


def mapped_files(process: int) -> list[Mapped]:
    """What a process has mapped with the right to execute; empty of one that has ended."""
    try:
        lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        place, rights, offset, _, _, *path = line.split(maxsplit=5)
        if "x" in rights and path:
            start, end = (int(each, 16) for each in place.split("-"))
            found.append(Mapped(start, end, int(offset, 16), path[0].removesuffix(" (deleted)")))
    return found


def program_function(process: int, mapped: Mapped, address: int) -> str:
    """The function at an address of a process, or `UNNAMED`: many files have no symbols left.

    Behind it stands `RETURNS` where a system call returns to: interrupts were off until there.
    """
    root = f"/proc/{process}/root"
    returns = f";{RETURNS}" if returns_here(root, mapped, address) else ""
    names, segments = _file_names(root, mapped.path)
    offset = address - mapped.start + mapped.offset
    for begins, size, memory in segments:
        if begins <= offset < begins + size:
            return (names.at(offset - begins + memory) or UNNAMED) + returns
    return UNNAMED + returns


@functools.lru_cache(maxsize=4096)
def returns_here(root: str, mapped: Mapped, address: int) -> bool:
    """Whether an address of a process is where a system call returns to."""
    call = CALLS.get(platform.machine(), b"")
    try:
        with Path(root + mapped.path).open("rb") as file:
            file.seek(max(address - mapped.start + mapped.offset - len(call), 0))
            return bool(call) and file.read(len(call)) == call
    except OSError:
        return False


@functools.lru_cache(maxsize=64)
def _file_names(root: str, path: str) -> tuple[Names, list[tuple[int, int, int]]]:
    """Functions of an ELF file of 64 bits by address, and its segments: (offset, size, address)."""
    try:
        content = Path(root + path).read_bytes()
    except OSError:
        content = b""
    if content[:5] != b"\x7fELF\x02":
        return Names([], [], []), []
    header = struct.unpack_from("<QQQIHHHHHH", content, 24)
    segments_at, sections_at, segments, sections = header[1], header[2], header[6], header[8]
    loaded = []
    for number in range(segments):
        kind, _, offset, address, _, size = struct.unpack_from(
            "<IIQQQQ", content, segments_at + 56 * number
        )
        if kind == LOADED:
            loaded.append((offset, size, address))
    tables = [
        struct.unpack_from("<IIQQQQIIQQ", content, sections_at + 64 * n) for n in range(sections)
    ]
    found: dict[int, tuple[int, str]] = {}
    for table in tables:
        if table[1] not in SYMBOL_TABLES:
            continue
        words = tables[table[6]][4]
        for at in range(table[4], table[4] + table[5], 24):
            name, info, _, _, start, size = struct.unpack_from("<IBBHQQ", content, at)
            if info & 15 == FUNCTION and start:
                end = content.index(b"\0", words + name)
                found[start] = (start + size if size else 0, content[words + name : end].decode())
    starts = sorted(found)
    return Names(starts, [found[s][0] for s in starts], [found[s][1] for s in starts]), loaded
