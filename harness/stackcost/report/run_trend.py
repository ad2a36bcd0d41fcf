"""Trends over the stored runs of a folder: when did a figure change?

The figures are those of the stored answers. Runs follow each other in the order of their start.
Only figures of runs with one title, on one kind of machine, are in one trend.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.trend import Measurement, Subject, Trend, trends
from stackcost.contracts.errors import StackcostError
from stackcost.report.basis import basis_of, program_digest
from stackcost.report.listing import runs_in
from stackcost.report.stored_figures import answer_of, figures_of, machine_of


class RunTrends(BaseModel):
    """All trends. `single`: figures that only one run has. `unanswered`: complete runs without a
    stored answer. `older`: runs with an answer of another program, or of files with other times
    or sizes.
    """

    model_config = ConfigDict(frozen=True)

    trends: list[Trend]
    single: int = 0
    unanswered: int = 0
    older: int = 0


def run_trends(results: Path, only: str = "") -> RunTrends:
    """The trends of a folder of runs, of figures whose title, system or name has `only` in it."""
    program = program_digest()
    unanswered = older = 0
    found: list[tuple[str, Subject, Measurement]] = []
    for run in runs_in(results):
        try:
            manifest = run.manifest()
        except StackcostError:
            continue
        if manifest.state != "complete":
            continue
        answer = answer_of(run)
        if answer is None:
            unanswered += 1
            continue
        older += answer.basis != basis_of(run, program)
        title, machine = str(manifest.experiment.get("title", "")), machine_of(manifest)
        for system, name, at, spread in figures_of(answer):
            of = Subject(title, system, name, spread.unit, machine, at)
            if spread.values and of.has(only):
                measured = Measurement(name=run.name, values=spread.values)
                found.append((manifest.started, of, measured))
    found.sort(key=lambda each: (each[0], each[2].name))
    all_trends = trends((of, measured) for _, of, measured in found)
    kept = [each for each in all_trends if sum(len(g.measurements) for g in each.groups) > 1]
    return RunTrends(
        trends=sorted(kept, key=lambda trend: (str(trend.of), trend.of.at or 0)),
        single=len(all_trends) - len(kept),
        unanswered=unanswered,
        older=older,
    )
