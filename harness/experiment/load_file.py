"""Reads an experiment file; what is wrong in it is reported with its line."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.files import EXPERIMENTS, PROFILES, PUBLISHED
from stackcost.harness.experiment.profile_load import NO_PROFILE
from stackcost.harness.experiment.schema import Experiment
from stackcost.harness.experiment.shares import SHARED
from stackcost.harness.systems.registry import server_class
from stackcost.host.yaml_file import read_yaml

Location = tuple[int | str, ...]


def experiment_file(named: Path) -> Path:
    """The file that is named: a path, or one of the suite's own experiments by its bare name.

    A file of the reader's comes first. StackcostError, with the names there are, for neither.
    """
    if named.is_file():
        return named
    own = EXPERIMENTS / f"{named}.yaml"
    if named.name == str(named) and own.is_file():
        return own
    names = ", ".join(sorted(path.stem for path in EXPERIMENTS.glob("*.yaml")))
    raise StackcostError(
        f"there is no experiment file {named}", f"give a file's path, or one of: {names}"
    )


def load_experiment(path: Path, quick: bool = False, share_cores: bool = False) -> Experiment:
    """The experiment of a file; with `quick`, as its section `quick` shortens it.

    `share_cores`: clients and server both get every core, whatever the file says.
    Both forms are checked whichever is wanted, so a fault in one does not wait for its day.
    Paths in it are relative to the file. Raises StackcostError naming file and line.
    """
    document = read_yaml(path, "the experiment", "rt")
    if share_cores and isinstance(document, dict):
        document["cores"] = SHARED
    short: Any = document.pop("quick", None) if isinstance(document, dict) else None
    full_form = _validate(path, document, {})
    quick_form = full_form if short is None else _validate(path, document, short)
    return quick_form if quick else full_form


def _validate(path: Path, document: Any, short: Any) -> Experiment:
    if not isinstance(document, dict) or not isinstance(short, dict):
        raise StackcostError(f"{path} line 1: an experiment is a mapping of keys to values")
    merged: dict[str, Any] = _overlaid(document, short)
    try:
        experiment = Experiment.model_validate(merged, context={"folder": path.parent})
    except ValidationError as error:
        lines = [_fault(path, document, short, fault) for fault in error.errors()]
        raise StackcostError("\n".join(lines), "see experiments/compare.yaml for every key") from (
            error
        )
    return _with_profiles(path, experiment)


def _overlaid(document: dict[str, Any], short: dict[str, Any]) -> dict[str, Any]:
    """`document` with what `short` says instead, section by section."""
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
    return f"{path} line {line}: {name}: {message} (it says {_shown(fault)})"


def _shown(fault: Any) -> str:
    return "nothing" if fault["type"] == "missing" else repr(fault["input"])[:60]


def _line_of(document: Any, location: Location) -> tuple[int, int]:
    """How many keys of `location` the document has, and the line (from 1) of the last of them."""
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
    """The experiment with the paths in it made absolute; each file must be there and load."""
    parts: dict[str, Any] = {}
    for at, server in enumerate(experiment.servers):
        try:
            server_class(server)
        except StackcostError as error:
            raise StackcostError(f"{path}: servers.{at}: {error.what}", error.hint) from error
    if experiment.published:
        parts["published"] = _named(path, "published", experiment.published, PUBLISHED)
    for name in ("load", "memory"):
        part = getattr(experiment, name)
        if part.profile == NO_PROFILE:
            continue
        profile = _named(path, f"{name}.profile", part.profile, PROFILES)
        parts[name] = part.model_copy(update={"profile": profile})
    return experiment.model_copy(update=parts)


def _named(path: Path, key: str, named: Path, suite: Path) -> Path:
    """The file that a key names: its path from the experiment's file, or the suite's by bare name.

    A file of the reader's comes first. An installed suite is in no place that one could write down.
    """
    found = (path.parent / named).resolve()
    if not found.is_file() and named.name == str(named):
        found = (suite / named).resolve()
    if not found.is_file():
        names = ", ".join(sorted(each.name for each in suite.iterdir() if each.is_file()))
        raise StackcostError(
            f"{path}: {key}: there is no file {(path.parent / named).resolve()}",
            f"give a path from the experiment's file, or one of the suite's: {names}",
        )
    return found
