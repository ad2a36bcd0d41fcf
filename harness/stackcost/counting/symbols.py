"""Functions by address: of the guest's kernel, and of the files that its programs have mapped."""

import re
from bisect import bisect_right
from pathlib import PurePosixPath

KERNEL_FROM = 1 << 63
SYMBOL = re.compile(r"^([0-9a-f]+) [tTwW] (\S+)(?:\t\[(\w+)\])?", re.M)
STACK_MODULES = ("onload", "sfc_char", "sfc_resource")  # their functions are told with their names
MAPPED = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ +(/\S+|\[\S+)", re.M)


class Symbols:
    """`kernel`: the text of /proc/kallsyms. `programs`: that of /proc/PID/maps by name of program.

    Programs have the same addresses at each start (norandmaps).
    """

    def __init__(self, kernel: str, programs: dict[str, str]):
        found = sorted(
            (int(address, 16), f"{name} [{module}]" if module in STACK_MODULES else name)
            for address, name, module in SYMBOL.findall(kernel)
        )
        self._starts = [address for address, _ in found]
        self._names = [name for _, name in found]
        self._files = {
            program: [
                (int(begin, 16), int(end, 16), PurePosixPath(file).name)
                for begin, end, file in MAPPED.findall(maps)
            ]
            for program, maps in programs.items()
        }

    def function(self, address: int, program: str) -> str:
        """A function of the kernel; of a program in user mode the file with its code."""
        if address >= KERNEL_FROM:
            place = bisect_right(self._starts, address) - 1
            return self._names[place] if place >= 0 else "?"
        for begin, end, file in self._files.get(program, []):
            if begin <= address < end:
                return file
        return "?"

    def begins(self, address: int) -> bool:
        """Whether a function of the kernel begins here."""
        place = bisect_right(self._starts, address) - 1
        return place >= 0 and self._starts[place] == address

    def starts_of(self, prefixes: tuple[str, ...]) -> list[int]:
        """Where each function of the kernel begins whose name begins so."""
        pairs = zip(self._starts, self._names, strict=True)
        return [start for start, name in pairs if name.startswith(prefixes)]

    def bounds(self, name: str) -> tuple[int, int] | None:
        """Where a function of the kernel begins and the next one begins; None: there is none."""
        if name not in self._names:
            return None
        place = self._names.index(name)
        start = self._starts[place]
        return start, self._starts[bisect_right(self._starts, start)]
