"""What two descriptions of a machine differ in."""

from collections.abc import Mapping
from typing import Any

# Moves by itself, or is put back only after it is read.
RESTLESS = ("memory.HugePages_Free", "memory.HugePages_Total", "sysctls.vm.nr_hugepages")
LONGEST = 80  # characters of a value


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What two descriptions of a machine differ in, each as "kernel.release: 6.1 -> 6.18"."""
    old, new = _flat(before), _flat(after)
    return [
        f"{name}: {str(old.get(name))[:LONGEST]} -> {str(new.get(name))[:LONGEST]}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name) and not name.startswith(RESTLESS)
    ]


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
