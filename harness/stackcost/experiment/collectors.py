"""Collectors of the user's own, found by the path of their file."""

from collections.abc import Sequence
from pathlib import Path

from stackcost.analysis.figures.registry import ALL
from stackcost.contracts.collector import CollectedFigure, OwnCollector
from stackcost.contracts.errors import StackcostError
from stackcost.servers.own_files import class_in


def collector_class(file: str) -> type[OwnCollector]:
    """The collector in this file. StackcostError if there is none, or if a figure of it cannot be
    computed or has the name of one of stackcost's own.
    """
    path = Path(file)
    found = class_in(path, OwnCollector, "docs/adding-a-collector.md")
    metrics = {metric.name for metric in getattr(found, "metrics", ())}
    if not metrics or not getattr(found, "name", ""):
        raise StackcostError(f"{path}: {found.__name__} needs a `name` and its `metrics`")
    known = {declared.name for declared in ALL}
    for figure in found.figures:
        if figure.metric not in metrics:
            raise StackcostError(
                f"{path}: the figure {figure.name!r} is of the metric {figure.metric!r}, which "
                f"{found.__name__} does not have",
                f"its metrics: {', '.join(sorted(metrics))}",
            )
        if any(_overlap(figure.name, name) for name in known):
            raise StackcostError(
                f"{path}: the figure {figure.name!r} has the name of one of stackcost's own",
                "docs/figures.md lists these",
            )
    return found


def figures_of(files: Sequence[str]) -> list[CollectedFigure]:
    """What these collectors bring to the summary of a run. StackcostError if two have one name."""
    found = [figure for file in files for figure in collector_class(file).figures]
    names = [figure.name for figure in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise StackcostError(f"two collectors have a figure of the name {twice[0]!r}")
    return found


def _overlap(one: str, other: str) -> bool:
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
