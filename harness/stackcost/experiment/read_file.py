"""Reads an experiment file and reports errors with their line."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.auto import SHARED
from stackcost.experiment.collectors import figures_of
from stackcost.experiment.profile_load import NO_PROFILE
from stackcost.experiment.schema import Experiment
from stackcost.files import EXPERIMENTS, PROFILES
from stackcost.host.yaml_file import read_yaml
from stackcost.servers.registry import SUFFIX, nearest, server_class

BED = ("hosts", "bed", "generators", "cores", "timeout_factor")  # sections that a test bed is of
ALL = f"give the path of a file, or the name of one in {EXPERIMENTS}"
Location = tuple[int | str, ...]


def experiment_file(named: Path, root: Path = Path()) -> Path:
    """The file for a path below `root`, or for the name of a built-in experiment.

    A file of the user has priority. StackcostError with the nearest names if there is neither.
    """
    if named.suffix == SUFFIX:
        raise StackcostError(
            f"{named} is Python, not an experiment file",
            "name it in `servers` of an experiment file, or run: stackcost ceiling FILE.py",
        )
    if (root / named).is_file():
        return root / named
    own = EXPERIMENTS / f"{named}.yaml"
    if named.name == str(named) and own.is_file():
        return own
    raise StackcostError(
        f"there is no experiment file {root / named}{nearest(named.stem, experiment_names())}", ALL
    )


def experiment_names() -> list[str]:
    """The names of the built-in experiments."""
    return sorted(path.stem for path in EXPERIMENTS.glob("*.yaml"))


def read_experiment(path: Path, quick: bool = False, share_cores: bool = False) -> Experiment:
    """Load an experiment. `quick`: apply the section `quick` of the file, which shortens it.

    `share_cores`: clients and server both get all cores, whatever the file says. Both forms of the
    file are always checked, so that an error in one of them is found early. Paths in the file are
    relative to it. Raises StackcostError with file and line.
    """
    document = read_yaml(path, "the experiment", "rt")
    if share_cores and isinstance(document, dict):
        document["cores"] = SHARED
    short: Any = document.pop("quick", None) if isinstance(document, dict) else None
    full_form = _validate(path, document, {})
    quick_form = full_form if short is None else _validate(path, document, short)
    plan = quick_form if quick else full_form
    return plan.as_counted() if plan.counted else plan


def on_bed(experiment: Experiment, other: Experiment) -> Experiment:
    """The experiment on the test bed of the other one: its hosts, generators and cores.

    A device that only has ports is a part of its bed.
    """
    parts = {part: getattr(other, part) for part in BED}
    if other.dut.device:
        parts["dut"] = experiment.dut.model_copy(update={"device": other.dut.device})
    whole = experiment.model_copy(update=parts)
    try:
        return Experiment.model_validate(whole.model_dump(mode="json"))
    except ValidationError as error:
        raise StackcostError(error.errors()[0]["msg"].removeprefix("Value error, ")) from error


def _validate(path: Path, document: Any, short: Any) -> Experiment:
    if not isinstance(document, dict) or not isinstance(short, dict):
        raise StackcostError(
            f"{path} line 1: an experiment must be a mapping of keys to values",
            "docs/experiment-file.md shows one; a server or a device is a Python file",
        )
    merged: dict[str, Any] = _overlaid(document, short)
    try:
        experiment = Experiment.model_validate(merged, context={"folder": path.parent})
    except ValidationError as error:
        lines = [_fault(path, document, short, fault) for fault in error.errors()]
        raise StackcostError("\n".join(lines), "docs/experiment-file.md has every key") from (error)
    return _with_profiles(path, experiment)


def _overlaid(document: dict[str, Any], short: dict[str, Any]) -> dict[str, Any]:
    """`document` with the values of `short` instead of its own, section by section."""
    merged = dict(document)
    for key, value in short.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            value = _overlaid(below, value)
        merged[key] = value
    return merged


def _fault(path: Path, document: Any, short: Any, fault: Any) -> str:
    location: Location = fault["loc"]
    _, line = max(_line_of(short, location), _line_of(document, location), key=lambda at: at[0])
    name = ".".join(str(part) for part in location) or "experiment"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        near = nearest(str(location[-1]), _keys_at(location[:-1]))
        message = f"there is no such key{near}"
    return f"{path} line {line}: {name}: {message} ({_shown(fault)})"


def _keys_at(location: Location) -> list[str]:
    """The keys of the section at a place in the file."""
    section: Any = Experiment
    for part in location:
        found = section.model_fields.get(part) if hasattr(section, "model_fields") else None
        section = found.annotation if found else None
    return list(getattr(section, "model_fields", ()))


def _shown(fault: Any) -> str:
    missing = fault["type"] == "missing"
    return "the key is missing" if missing else f"the value is {fault['input']!r:.60}"


def _line_of(document: Any, location: Location) -> tuple[int, int]:
    """How many keys of `location` exist in the document, and the line (from 1) of the last one."""
    line = 1
    node = document
    for depth, part in enumerate(location):
        try:
            position = node.lc.item(part) if isinstance(part, int) else node.lc.key(part)
            node = node[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            return depth, line
        line = position[0] + 1
    return len(location), line


def _with_profiles(path: Path, experiment: Experiment) -> Experiment:
    """The experiment with absolute paths; every file must exist and load."""
    parts: dict[str, Any] = {}
    for at, server in enumerate(experiment.servers):
        try:
            server_class(server)
        except StackcostError as error:
            raise StackcostError(f"{path}: servers.{at}: {error.what}", error.hint) from error
    try:
        figures_of(experiment.collectors)
    except StackcostError as error:
        raise StackcostError(f"{path}: collectors: {error.what}", error.hint) from error
    for name in ("load", "memory"):
        part = getattr(experiment, name)
        if part.profile == NO_PROFILE:
            continue
        profile = _named(path, f"{name}.profile", part.profile, PROFILES)
        parts[name] = part.model_copy(update={"profile": profile})
    return experiment.model_copy(update=parts)


def _named(path: Path, key: str, named: Path, suite: Path) -> Path:
    """The file that a key names: a path relative to the experiment file, or a built-in file's name.

    A file of the user has priority. Built-in files have names, because the path of an installed
    suite differs between machines.
    """
    found = (path.parent / named).resolve()
    if not found.is_file() and named.name == str(named):
        found = (suite / named).resolve()
    if not found.is_file():
        names = ", ".join(sorted(each.name for each in suite.iterdir() if each.is_file()))
        raise StackcostError(
            f"{path}: {key}: there is no file {(path.parent / named).resolve()}",
            f"give a path relative to the experiment file, or a built-in file: {names}",
        )
    return found
