"""Which machine a baseline belongs to: its processors and memory, and nothing that is updated.

A new kernel or nginx on the same machine is what a gate is there to judge; it is named among the
differences instead.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Fingerprint = dict[str, str]
KEY_DIGITS = 8


def fingerprint(machine: Mapping[str, Any]) -> Fingerprint:
    """Of a machine as `stackcost.collect.machine` describes it."""
    processors, memory = machine.get("processors", {}), machine.get("memory", {})
    return {
        "processor": str(processors.get("model")),
        "architecture": str(processors.get("architecture")),
        "cores": str(len(processors.get("online", []))),
        "virtual": "yes" if processors.get("virtual") else "no",
        "memory": _gibibytes(memory.get("MemTotal")),
    }


def key(of: Fingerprint) -> str:
    """Some letters for a file's name."""
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]


def in_words(of: Fingerprint) -> str:
    """For people, as "AMD EPYC, 2 cores, 4 GiB, virtual"."""
    parts = [of["processor"], f"{of['cores']} cores", of["memory"]]
    return ", ".join(parts + ["virtual"] * (of["virtual"] == "yes"))


def _gibibytes(total: str | None) -> str:
    """Rounded: what the kernel keeps for itself changes with its version."""
    return "unknown" if total is None else f"{round(int(total.split()[0]) / 2**20)} GiB"
