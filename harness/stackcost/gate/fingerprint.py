"""Identifies the machine of a baseline by its processors and memory, not by its software.

The gate has to judge a new kernel or nginx on the same machine, so these do not change the
fingerprint. They are listed among the differences.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Fingerprint = dict[str, str]
KEY_DIGITS = 8


def fingerprint(machine: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint of a machine that `stackcost.collect.machine` described."""
    processors, memory = machine.get("processors", {}), machine.get("memory", {})
    return {
        "processor": str(processors.get("model")),
        "architecture": str(processors.get("architecture")),
        "cores": str(len(processors.get("online", []))),
        "virtual": "yes" if processors.get("virtual") else "no",
        "memory": _gibibytes(memory.get("MemTotal")),
    }


def key(of: Fingerprint) -> str:
    """A short hash of the fingerprint, for a file name."""
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]


def in_words(of: Fingerprint) -> str:
    """The fingerprint as text, such as "AMD EPYC, 2 cores, 4 GiB, virtual"."""
    parts = [of["processor"], f"{of['cores']} cores", of["memory"]]
    return ", ".join(parts + ["virtual"] * (of["virtual"] == "yes"))


def _gibibytes(total: str | None) -> str:
    """Rounded, because the memory that the kernel reserves depends on its version."""
    return "unknown" if total is None else f"{round(int(total.split()[0]) / 2**20)} GiB"
