"""What two descriptions of a machine, or of another set-up, differ in."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

# Moves by itself, or is put back only after it is read.
RESTLESS = ("memory.HugePages_Free", "memory.HugePages_Total", "sysctls.vm.nr_hugepages")
LONGEST = 80  # characters of a value


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What two descriptions differ in, each as "kernel.release: 6.1 -> 6.18"; of a text of several
    lines those that were added and taken away.
    """
    old, new = _flat(before), _flat(after)
    return [
        f"{name}: {words}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name) and not name.startswith(RESTLESS)
        for words in _changed(old.get(name), new.get(name))
    ]


def _changed(old: Any, new: Any) -> Iterator[str]:
    texts = [str(each) for each in (old, new)]
    if not any("\n" in text for text in texts):
        yield " -> ".join(text[:LONGEST] for text in texts)
        return
    before, after = (text.splitlines() for text in texts)
    for line in difflib.unified_diff(before, after, lineterm="", n=0):
        if line[:1] in "+-" and line[:3] not in ("+++", "---"):
            yield line[:LONGEST]


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {
            path: leaf
            for key, below in value.items()
            for path, leaf in _flat(below, f"{name}.{key}" if name else str(key)).items()
        }
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return _flat({str(at): below for at, below in enumerate(value)}, name)
    return {name: value}
