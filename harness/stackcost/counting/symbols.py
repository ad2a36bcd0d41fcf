"""Functions of the guest's kernel by address, and files of its programs by pages of its memory."""

import re
from bisect import bisect_right
from collections.abc import Mapping

KERNEL_FROM = 1 << 63
SYMBOL = re.compile(r"^([0-9a-f]+) [tTwW] (\S+)(?:\t\[(\w+)\])?", re.M)
STACK_MODULES = ("onload", "sfc_char", "sfc_resource")  # their functions are told with their names
PAGE_BITS = 12


class Symbols:
    """`kernel`: the text of /proc/kallsyms. `pages`: the file with the code of each page of the
    guest's memory, by number; of the server's programs.
    """

    def __init__(self, kernel: str, pages: Mapping[int, str]):
        found = sorted(
            (int(address, 16), f"{name} [{module}]" if module in STACK_MODULES else name)
            for address, name, module in SYMBOL.findall(kernel)
        )
        self._starts = [address for address, _ in found]
        self._names = [name for _, name in found]
        self._pages = pages

    def function(self, address: int, physical: int) -> str:
        """A function of the kernel; of a program in user mode the file with its code, which is told
        by its place in memory.
        """
        if address < KERNEL_FROM:
            return self._pages.get(physical >> PAGE_BITS, "?")
        place = bisect_right(self._starts, address) - 1
        return self._names[place] if place >= 0 else "?"

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
