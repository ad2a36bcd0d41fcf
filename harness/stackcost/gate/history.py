"""The history of the gate: one line of JSON for each measurement."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from stackcost.analysis.comparing.trend import Measurement, Subject, Trend, trends
from stackcost.contracts.errors import StackcostError
from stackcost.gate.figure import COST, WHOLE_CORES
from stackcost.store.manifest import moment, utc_now

HISTORY = "history.jsonl"


class Entry(BaseModel):
    """One measurement; fields that older lines have beside these are not read.

    `figure`: what `values` are of, one for each judged trial. `machine`: the key of the baseline's
    place. `ratio`: result / baseline or number. `run`: the folder with all readings, which may have
    been deleted since.
    """

    model_config = ConfigDict(frozen=True)

    time: str = Field(default_factory=utc_now)
    test: str
    experiment: str
    system: str
    figure: str = WHOLE_CORES.title
    machine: str
    outcome: str
    ratio: float | None
    values: list[float] = Field(min_length=1, validation_alias=AliasChoices("values", "cps"))
    commit: str
    run: str

    @field_validator("time")
    @classmethod
    def _is_a_time(cls, text: str) -> str:
        moment(text)
        return text

    @property
    def when(self) -> datetime:
        """Its time."""
        return moment(self.time)

    @property
    def of(self) -> Subject:
        """What it is a measurement of."""
        unit = (COST if self.figure == COST.title else WHOLE_CORES).unit
        return Subject(self.test, self.system, self.figure, unit, self.machine)


def trends_of(history: Sequence[Entry]) -> list[Trend]:
    """A trend of each system's figure by each test on each machine."""
    return trends(
        (
            each.of,
            Measurement(name=each.time, time=each.when, values=each.values, commit=each.commit),
        )
        for each in history
    )


def append(path: Path, entry: Entry) -> None:
    """Append a line with one write, so that the lines of two processes do not mix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write(entry.model_dump_json().encode() + b"\n")


def read_history(path: Path) -> list[Entry]:
    """All measurements in the order of their times, which that of the lines of merged files may not
    be. StackcostError names an invalid line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StackcostError(
            f"cannot read the history {path}: {error.strerror}",
            "name a folder of runs, such as results, or a history, which tests with the fixture "
            "cps_ceiling write",
        ) from error
    except UnicodeDecodeError as error:
        raise StackcostError(
            f"the history {path} is not UTF-8 text: {error.reason} at byte {error.start}",
            "restore the file, or name another history or a folder of runs",
        ) from error
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(Entry.model_validate_json(line))
        except ValidationError as error:
            what = error.errors()[0]
            raise StackcostError(
                f"{path} line {number} is not a measurement: {what['loc']}: {what['msg']}",
                "delete that line, or name another history or a folder of runs",
            ) from error
    return sorted(entries, key=lambda each: each.when)
