"""The gate's memory: a line of JSON for each time it measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.harness.gate.trial import GateTrial
from stackcost.store.manifest import utc_now

HISTORY = "history.jsonl"


class Entry(BaseModel):
    """One measurement. `cps`: of every trial that was judged; `cpu_us`: of the same, all kinds
    together.

    `machine`: the key of its fingerprint. `ratio`: against the baseline or the ceiling. `run`:
    the folder with every reading, for as long as it is kept.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    time: str = Field(default_factory=utc_now)
    test: str
    experiment: str
    system: str
    machine: str
    outcome: str
    ratio: float | None
    cps: list[float] = Field(min_length=1)
    cpu_us: list[float]
    commit: str
    run: str

    @classmethod
    def of(cls, trials: Sequence[GateTrial], **others: Any) -> Self:
        """With the figures of these trials."""
        known = [[v for v in trial.cpu.values() if v is not None] for trial in trials]
        return cls(
            cps=[trial.cps for trial in trials],
            cpu_us=[round(sum(values), 2) for values in known if values],
            **others,
        )


def append(path: Path, entry: Entry) -> None:
    """Add a line; one write, so that lines of two processes do not mix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write(entry.model_dump_json().encode() + b"\n")


def read_history(path: Path) -> list[Entry]:
    """All lines; StackcostError naming the one that is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StackcostError(
            f"cannot read the history {path}: {error.strerror}",
            "tests with the fixture cps_ceiling write one, or name another file",
        ) from error
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(Entry.model_validate_json(line))
        except ValidationError as error:
            what = error.errors()[0]
            raise StackcostError(
                f"{path} line {number} is no measurement: {what['loc']}: {what['msg']}",
                "remove that line",
            ) from error
    return entries
