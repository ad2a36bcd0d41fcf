"""The runs that this process has begun or resumed, to be named when Ctrl-C ends it."""

from shlex import quote

from stackcost.store import RunFolder

RUNS: list[RunFolder] = []


def kept() -> list[str]:
    """Where their trials are, and the command that computes their results; one line each.

    The paths are the last lines. Empty if no run has begun.
    """
    runs = [run for run in RUNS if run.path.is_dir()]
    paths = [str(run.path) for run in runs]
    measured = [quote(str(run.path)) for run in runs if run.count()]
    if measured:
        said = f"interrupted; to compute the results, run: stackcost report {' '.join(measured)}"
        return [said, *paths]
    return ["interrupted before the first trial; nothing was measured", *paths] if runs else []
