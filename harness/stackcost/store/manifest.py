"""The manifest of a run: its machine, versions and plan. It is written first and completed last."""

from datetime import UTC, datetime
from pathlib import Path
from shlex import join, quote
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackcost.contracts.collector import CollectedFigure
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.system import System
from stackcost.store.reading import check_format, first_fault, read_object

FORMAT = "stackcost-run/8"  # of manifest, trials and samples
MeasuredKind = Literal["costs", "ceilings", "events"]
Plan = TypeVar("Plan", bound=BaseModel)


def utc_now() -> str:
    """This moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def moment(text: str) -> datetime:
    """The time of an ISO 8601 text, UTC where it names no zone. ValueError: it is none."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class CoresTaken(BaseModel):
    """What other programs took of this machine's cores in some `seconds` before the first bed."""

    model_config = ConfigDict(extra="forbid")

    seconds: float
    cores: dict[int, float] = Field(description="by core, the share (0 to 1) that was not idle")
    programs: dict[str, float] = Field(description="the largest by name and pid, in cores")


class Resumption(BaseModel):
    """A resumption of a run. `changed`: changes of the machine since the run began."""

    model_config = ConfigDict(extra="forbid")

    time: str = Field(default_factory=utc_now, description="ISO 8601, UTC")
    command: list[str]
    first_trial: int = Field(description="number of the first trial from then on")
    changed: list[str]
    cores_taken: CoresTaken | None = None


class PlanFile(BaseModel):
    """The experiment's file that a plan was read from, and how."""

    model_config = ConfigDict(extra="forbid")

    path: str
    quick: bool = False
    share_cores: bool = False


class LoadsFound(BaseModel):
    """Loads that are shares of the slowest system's ceiling, found before the first round."""

    model_config = ConfigDict(extra="forbid")

    ceilings: dict[str, float] = Field(
        description="connections/s with at most 0.5 % loss, by system; for a system that is faster "
        "than the slowest one, the ceiling of the slowest one"
    )
    offered_cps: list[float] = Field(description="the loads, connections/s")
    not_held: dict[str, list[float]] = Field(
        default={},
        description="highest loads, connections/s, that a system did not hold when they were tried "
        "by themselves; for each of them its ceiling was lowered by a tenth",
    )


class Manifest(BaseModel):
    """`manifest.json`. A run that was killed stays "running", with no `finished`."""

    model_config = ConfigDict(extra="forbid")

    format: str = FORMAT
    run: str = Field(description="name of the run's folder")
    state: Literal["running", "complete", "interrupted", "failed"] = "running"
    started: str = Field(default_factory=utc_now, description="ISO 8601, UTC")
    finished: str | None = Field(default=None, description="ISO 8601, UTC")
    kind: MeasuredKind = Field(
        default="costs",
        description="what was measured: costs at given loads, ceilings, or events at a device",
    )
    command: list[str] = Field(default_factory=list, description="command line of the run")
    experiment: dict[str, Any] = Field(default_factory=dict, description="the plan, as resolved")
    plan_file: PlanFile | None = Field(
        default=None, description="where the plan is from; null if it is from no file of its own"
    )
    machine: dict[str, Any] = Field(default_factory=dict, description="before the first trial")
    cores_taken: CoresTaken | None = Field(
        default=None, description="before the first bed; null where no part of it is here"
    )
    machine_after: dict[str, Any] | None = Field(default=None, description="after the last")
    changed: list[str] = Field(
        default_factory=list, description="differences of the machine after the run"
    )
    resumed: list[Resumption] = Field(
        default_factory=list, description="each time the run was resumed"
    )
    experiment_hash: str = Field(default="", description="SHA-256 of `experiment`")
    order_seed: int = Field(default=0, description="seed of the order of the systems in each round")
    systems: list[System] = Field(
        default_factory=list,
        description="the systems of the plan in order, those that were not measured too",
    )
    profile_hashes: dict[str, str] = Field(
        default_factory=dict, description="SHA-256 of each profile's file, by path"
    )
    figures: list[CollectedFigure] = Field(
        default_factory=list, description="figures that the user's own collectors bring"
    )
    not_measured: dict[str, str] = Field(
        default_factory=dict,
        description="by the name of a system that this machine cannot measure, why",
    )
    tests_not_measured: dict[str, str] = Field(
        default_factory=dict,
        description='tests of HTTP clients that could not be made, as "system, test", and why',
    )
    loads_found: LoadsFound | None = Field(
        default=None, description="only if the plan has shares; a resumed run keeps them"
    )
    failure: str = Field(default="", description="why the run failed, or empty")
    test_bed: dict[str, Any] = Field(default_factory=dict, description="links and steering")
    servers: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="by name: version, configuration, cores"
    )

    def plan_as(self, form: type[Plan]) -> Plan:
        """The plan, or what of it `form` has; StackcostError for another kind of run."""
        try:
            return form.model_validate(self.experiment)
        except ValidationError as error:
            raise StackcostError(
                f"{self.run} is not a run of an experiment, or another version of stackcost wrote "
                f"it: {first_fault(error)}",
                "stackcost ls lists all runs",
            ) from error

    @property
    def again(self) -> str:
        """The command that measures it again, as a hint."""
        command = join(["stackcost", *self.command[1:]])
        return f"to measure it again, run: {command}" if self.command else ""

    @classmethod
    def read(cls, path: Path) -> Self:
        """A stored manifest; StackcostError when it cannot be read."""
        runs = quote(str(path.parent.parent))
        hint = f"copy it again from where it was measured; other runs: stackcost ls {runs}"
        try:
            stored = read_object(path)
        except StackcostError as error:
            raise StackcostError(error.what, hint) from error
        check_format(stored.get("format"), FORMAT, str(path))
        try:
            return cls.model_validate(stored)
        except ValidationError as error:
            raise StackcostError(f"{path} is damaged: {first_fault(error)}", hint) from error
