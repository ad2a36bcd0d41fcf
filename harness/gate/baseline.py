"""A baseline: trials that later trials are compared with, in a file to commit."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.harness.gate.fingerprint import Fingerprint, key
from stackcost.harness.gate.trial import GateTrial
from stackcost.host.files import write_whole
from stackcost.store.manifest import utc_now

FORMAT: Literal["stackcost-baseline/3"] = "stackcost-baseline/3"


class Baseline(BaseModel):
    """The content of `<experiment>-<system>@<machine>.json`.

    `setup`: the set-up of the trials, to list later changes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["stackcost-baseline/3"] = FORMAT
    experiment: str
    system: str
    machine: Fingerprint
    taken: str = Field(default_factory=utc_now)
    offered_cps: float
    trials: list[GateTrial] = Field(min_length=2)
    setup: dict[str, Any]


def baseline_path(folder: Path, experiment: str, system: str, machine: Fingerprint) -> Path:
    """The path of the baseline of a system on a machine."""
    return folder / f"{_stem(experiment, system)}@{key(machine)}.json"


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


def of_other_machines(folder: Path, experiment: str, system: str) -> Sequence[Baseline]:
    """All baselines of a system."""
    return [read_baseline(path) for path in folder.glob(f"{_stem(experiment, system)}@*.json")]


def _stem(experiment: str, system: str) -> str:
    return re.sub(r"[^\w.-]+", "-", f"{experiment}-{system}")
