"""The table of functions (functions.yaml): what each does, and on whose behalf a stack ran."""

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

UNMATCHED = "in no category"
USER = "user space"
FILE = Path(__file__).with_name("functions.yaml")


class Found(NamedTuple):
    """What a stack of the kernel did, on whose behalf, and whether interrupts were off before."""

    category: str
    behalf: str
    interrupts_off: bool


class Table:
    """The categories of functions, and the words for whose behalf they ran on.

    `categories`: patterns by category, of which the first that fits has a function. `innermost`:
    the same for functions that count only as the innermost. `behalf`: a pattern and its words.
    `switching`: functions that switch interrupts on; `of_caller`: those that have no category.
    `allocators`: functions that allocate for their callers. `helpers`: categories of functions that
    have none in a stack, because all parts call them.
    """

    def __init__(
        self,
        categories: Mapping[str, Sequence[str]],
        innermost: Mapping[str, Sequence[str]],
        behalf: Sequence[Sequence[str]],
        of_caller: Collection[str] = (),
        switching: Collection[str] = (),
        allocators: Collection[str] = (),
        helpers: Mapping[str, Sequence[str]] | None = None,
    ):
        self._categories = [(name, _any_of(found)) for name, found in categories.items()]
        self._innermost = [(name, _any_of(found)) for name, found in innermost.items()]
        self._helpers = [(name, _any_of(found)) for name, found in (helpers or {}).items()]
        self._behalf = [(_any_of([pattern]), words) for pattern, words in behalf]
        self._of_caller, self._switching = _any_of(of_caller), _any_of([*of_caller, *switching])
        self._allocators = _any_of(allocators)
        self.category = functools.cache(self._category)
        self.alone = functools.cache(self._alone)

    def find(self, stack: str) -> Found:
        """Of a stack's functions, from the outermost to the innermost, with ";" between them."""
        functions = stack.split(";")
        off = bool(self._switching.fullmatch(functions[-1]))
        told = list(functions)
        while len(told) > 1 and self._of_caller.fullmatch(told[-1]):
            told.pop()
        category = next(
            (name for name, fits in self._innermost if fits.fullmatch(told[-1])), ""
        ) or next(filter(None, map(self.category, reversed(told))), UNMATCHED)
        return Found(category, self.behalf(functions), off)

    def owner(self, stack: str) -> str:
        """The function that wanted the memory of an allocation with this stack."""
        functions = stack.split(";")
        wanted = (each for each in reversed(functions) if not self._allocators.fullmatch(each))
        return next(wanted, functions[-1])

    def behalf(self, functions: Sequence[str]) -> str:
        """On whose behalf a stack ran; the words for a process that the table does not know."""
        for fits, words in self._behalf:
            for function in functions:
                if found := fits.fullmatch(function):
                    return words.replace("{}", next(filter(None, found.groups()), ""))
        return "the kernel"

    def _alone(self, function: str) -> str:
        """The category of a function whose callers are not known."""
        lists = (*self._innermost, *self._categories, *self._helpers)
        return next((name for name, fits in lists if fits.fullmatch(function)), UNMATCHED)

    def _category(self, function: str) -> str:
        return next((name for name, fits in self._categories if fits.fullmatch(function)), "")


@functools.cache
def table() -> Table:
    """The suite's table."""
    from ruamel.yaml import YAML  # takes a tenth of a second, which a stored answer does not need

    read = YAML(typ="safe").load(FILE.read_text())
    on = read["interrupts_on"]
    return Table(
        read["categories"],
        read["innermost"],
        read["behalf"],
        on["of_the_caller"],
        on["others"],
        read["allocators"],
        read["helpers"],
    )


def _any_of(patterns: Collection[str]) -> re.Pattern[str]:
    """Fits a name that one of these patterns has, in which "*" stands for anything."""
    parts = [re.escape(pattern).replace(r"\*", "(.*)") for pattern in patterns]
    return re.compile("|".join(parts) or r"(?!)")
