"""A baseline: trials that later trials are compared with, and their machine; a file to commit."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.gate.figure import WHOLE_CORES, Figure
from stackcost.gate.trial import GateTrial
from stackcost.host.files import write_whole
from stackcost.store.manifest import utc_now

Fingerprint = dict[str, str]
KEY_DIGITS = 8


def fingerprint(machine: Mapping[str, Any]) -> Fingerprint:
    """The fingerprint of a machine that `stackcost.collect.machine` described.

    The gate has to judge a new kernel or nginx on the same machine, so these do not change it. They
    are listed among the differences.
    """
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


FORMAT: Literal["stackcost-baseline/5"] = "stackcost-baseline/5"


class Baseline(BaseModel):
    """The content of `<experiment>-<system>@<machine>.json`; of a ceiling "-ceiling" is before @.

    `setup`: the set-up of the trials, to list later changes. `offered_cps`: the load in every
    trial; of a ceiling, the load at which searches begin.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["stackcost-baseline/5"] = FORMAT
    experiment: str
    system: str
    figure: Figure = WHOLE_CORES
    machine: Fingerprint
    taken: str = Field(default_factory=utc_now)
    offered_cps: float
    trials: list[GateTrial] = Field(min_length=2)
    setup: dict[str, Any]


def baseline_path(
    folder: Path, experiment: str, system: str, figure: Figure, machine: Fingerprint
) -> Path:
    """The path of the baseline of a system's figure on a machine."""
    return folder / f"{_stem(experiment, system, figure)}@{key(machine)}.json"


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; StackcostError if the file is not one."""
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        raise StackcostError(
            f"{path} is not a baseline that this version can read: {first['loc']}: {first['msg']}",
            "to measure a new one, run: pytest --stackcost-update-baseline",
        ) from error


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write or replace a baseline. Each trial has its own lines, so that diffs are readable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, baseline.model_dump_json(indent=1).encode() + b"\n")


def of_other_machines(
    folder: Path, experiment: str, system: str, figure: Figure
) -> Sequence[Baseline]:
    """All baselines of a system's figure."""
    stem = _stem(experiment, system, figure)
    return [read_baseline(path) for path in folder.glob(f"{stem}@*.json")]


def _stem(experiment: str, system: str, figure: Figure) -> str:
    which = "" if figure == WHOLE_CORES else f"-{figure}"
    return re.sub(r"[^\w.-]+", "-", f"{experiment}-{system}{which}")
