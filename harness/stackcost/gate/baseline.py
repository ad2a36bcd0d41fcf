"""A baseline: a gate's run in short, which later ones are compared with; a file to commit."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant
from stackcost.gate.figure import Judged
from stackcost.gate.trial import GateTrial
from stackcost.host.files import write_whole
from stackcost.report.difference import guest_of
from stackcost.store import Manifest
from stackcost.store.manifest import utc_now

KEY_DIGITS = 8
FORMAT: Literal["stackcost-baseline/6"] = "stackcost-baseline/6"


class Place(NamedTuple):
    """Where a baseline holds. `what`: "machine", or "guest" of counts. `key`: in file names."""

    what: str
    words: str
    key: str


def place_of(figure: Judged, target: Variant, machine: Mapping[str, Any]) -> Place:
    """This kind of machine as `stackcost.collect.machine` described it; of counts their guest.

    The gate has to judge a new kernel or nginx on the same machine, so these do not change the
    place. They are listed among the differences.
    """
    if figure.counted:
        assert target.experiment.counted is not None
        kernel = Path(target.experiment.counted.kernel).name
        return Place("guest", f"kernel {kernel}", kernel)
    processors, memory = machine.get("processors", {}), machine.get("memory", {})
    cores = f"{len(processors.get('online', []))} cores"
    parts = [str(processors.get("model")), cores, _gibibytes(memory.get("MemTotal"))]
    words = ", ".join(parts + ["virtual"] * bool(processors.get("virtual")))
    return Place("machine", words, hashlib.sha256(words.encode()).hexdigest()[:KEY_DIGITS])


def _gibibytes(total: str | None) -> str:
    """Rounded, because the memory that the kernel reserves depends on its version."""
    return "unknown" if total is None else f"{round(int(total.split()[0]) / 2**20)} GiB"


class Baseline(BaseModel):
    """The content of `<experiment>-<system><suffix>@<place>.json`.

    `setup`: the set-up of the trials, to list later changes. `load`: connections/s in every trial;
    of a ceiling, the load at which searches begin.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["stackcost-baseline/6"] = FORMAT
    experiment: str
    system: str
    figure: str
    place: str
    taken: str = Field(default_factory=utc_now)
    load: float
    trials: list[GateTrial] = Field(min_length=1)
    setup: dict[str, Any]


def setup_of(manifest: Manifest, system: str) -> dict[str, Any]:
    """What a system's figures may depend on, without what does not help a reader.

    Of counts that is the guest; files are named without their folders, which each checkout has
    elsewhere.
    """
    found = {"experiment": manifest.experiment, "profiles": manifest.profile_hashes}
    if guest := guest_of(manifest, system):
        found["guest"] = guest
    else:
        machine = dict(manifest.machine)
        kernel = machine.get("kernel", {})
        machine["kernel"] = {name: each for name, each in kernel.items() if name != "options"}
        found |= {"machine": machine, "server": manifest.servers.get(system, {})}
    return {part: _without_folders(each) for part, each in found.items()}


def _without_folders(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_without_folders(key): _without_folders(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_folders(each) for each in value]
    is_path = isinstance(value, str) and re.fullmatch(r"/[^\n]+", value)
    return Path(value).name if is_path else value


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
