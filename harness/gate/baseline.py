"""A baseline: the trials that later ones are held against, in a file to commit."""

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
    """`<experiment>-<system>@<machine>.json`.

    `setup`: what the trials ran on, for the list of what has changed since.
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
    """Where the baseline of a set-up on a machine is kept."""
    return folder / f"{_stem(experiment, system)}@{key(machine)}.json"


def read_baseline(path: Path) -> Baseline:
    """StackcostError when it is none."""
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        raise StackcostError(
            f"{path} is no baseline of this version: {first['loc']}: {first['msg']}",
            "measure a new one: pytest --stackcost-update-baseline",
        ) from error


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write or replace it; each trial on lines of its own, so that a change of it is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, baseline.model_dump_json(indent=1).encode() + b"\n")


def of_other_machines(folder: Path, experiment: str, system: str) -> Sequence[Baseline]:
    """All baselines of a set-up."""
    return [read_baseline(path) for path in folder.glob(f"{_stem(experiment, system)}@*.json")]


def _stem(experiment: str, system: str) -> str:
    return re.sub(r"[^\w.-]+", "-", f"{experiment}-{system}")
