"""The gate that counts: instructions per connection against a baseline that holds on any machine.

Baselines are of experiment, system and kernel. Counts of the same differ by less than 0.2 %, so one
trial decides.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from typing_extensions import override

from stackcost.analysis.figures.counted import SMALL, by_function, total
from stackcost.analysis.readings import Readings
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.read_file import read_experiment
from stackcost.runs.comparison import run_experiment

NAMED = 8  # functions that a failure names
PROGRESS_WIDTH = 200  # characters of a line: none is folded


@dataclass(frozen=True)
class Cost:
    """Instructions per connection: in all, and by function. `kernel`, `server`: their versions."""

    instructions: float
    functions: Mapping[str, float]
    kernel: str
    server: str

    def grown(self, before: "Cost") -> list[tuple[str, float]]:
        """Functions that cost more than before, and how much more; the most first."""
        found = {
            name: count - before.functions.get(name, 0.0) for name, count in self.functions.items()
        }
        grown = [(name, more) for name, more in found.items() if more > 0 and name != SMALL]
        return sorted(grown, key=lambda each: -each[1])


@dataclass(frozen=True)
class CountedResult:
    """What a gate found. `outcome`: as the other gate's. `text`: of a failure; `sentence`: of all.

    `run`: the folder of the run.
    """

    outcome: str
    sentence: str
    text: str
    run: Path


def judged(name: str, cost: Cost, before: Cost, tolerance: float, run: Path) -> CountedResult:
    """Whether a system's cost is above that of the baseline by more than a share `tolerance`."""
    ratio = cost.instructions / before.instructions
    above = ratio > 1 + tolerance
    sentence = (
        f"{name}: {cost.instructions:,.0f} instructions per connection, baseline "
        f"{before.instructions:,.0f} ({ratio - 1:+.2%}, allowed {tolerance:+.2%})"
    )
    grown = cost.grown(before)[:NAMED]
    lines = [f"{more:+12,.0f}  {function}" for function, more in grown]
    rest = cost.instructions - before.instructions - sum(more for _, more in grown)
    lines.append(f"{rest:+12,.0f}  all others, less what fell")
    other = [
        f"other {what}: {now}; of the baseline {was}"
        for what, now, was in (
            ("kernel", cost.kernel, before.kernel),
            ("server", cost.server, before.server),
        )
        if now != was
    ]
    text = "\n".join([sentence, "instructions that were added, by function:", *lines, *other])
    return CountedResult("above" if above else "holds", sentence, text, run)


class CountedGate:
    """One system of an experiment. `folder`: of baselines; `results`: of runs. `say`: gets each
    line of progress.
    """

    def __init__(
        self,
        file: Path,
        system: str,
        folder: Path,
        results: Path,
        command: list[str],
        say: Callable[[str], None],
    ):
        plan = read_experiment(file).as_counted().model_copy(update={"rounds": 1})
        self._variant = _variant(variants(plan), system, file)
        assert plan.counted is not None
        self._file, self._folder = file, folder
        self._results, self._command = results, command
        self._console = Console(file=_Lines(say), width=PROGRESS_WIDTH)
        words = f"{file.stem}-{self._variant.name}-counted@{plan.counted.kernel}"
        words = re.sub(r"[^\w.@-]", "-", words)
        self._baseline = folder / f"{words}.json"

    def write_baseline(self) -> CountedResult:
        """Count, and keep it as the baseline."""
        cost, run = self._count()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._baseline.write_text(json.dumps(asdict(cost), indent=1, sort_keys=True) + "\n")
        words = f"{self._variant.name}: {cost.instructions:,.0f} instructions per connection"
        return CountedResult("baseline written", f"{words}, written as baseline", "", run)

    def not_above_baseline(self, tolerance: float) -> CountedResult:
        """Count, and compare with the baseline."""
        if not self._baseline.exists():
            what = f"{self._variant.name} has no baseline {self._baseline.name}"
            hint = "to write it: pytest --stackcost-update-baseline"
            return CountedResult("no baseline", f"{what}; {hint}", "", Path())
        before = Cost(**json.loads(self._baseline.read_text()))
        cost, run = self._count()
        return judged(self._variant.name, cost, before, tolerance, run)

    def _count(self) -> tuple[Cost, Path]:
        plan = self._variant.experiment.model_copy(update={"baseline": "", "against": ""})
        run = run_experiment(
            plan, f"{self._file.stem}-gate", self._results, self._command, self._console
        )
        (trial,) = run.trials()
        seen, manifest = Readings(trial), run.manifest()
        found = total(seen)
        if found is None:
            raise StackcostError(f"no connection of {self._variant.name} completed", str(run.path))
        (bed,) = manifest.test_bed.values()
        version = manifest.servers[trial.server]["program"]
        cost = Cost(found, by_function(seen), bed["counted"]["kernel"], version)
        return cost, run.path


class _Lines(StringIO):
    """A file whose whole lines go to `say`."""

    def __init__(self, say: Callable[[str], None]):
        super().__init__()
        self._say, self._begun = say, ""

    @override
    def write(self, text: str, /) -> int:
        *whole, self._begun = (self._begun + text).split("\n")
        for line in whole:
            if line.strip():
                self._say(line.rstrip())
        return len(text)


def _variant(found: list[Variant], system: str, file: Path) -> Variant:
    wanted = [each for each in found if system in ("", each.name)]
    if len(wanted) == 1:
        return wanted[0]
    names = ", ".join(each.name for each in found)
    raise StackcostError(f"{file} has these systems: {names}", "name one: cost_ceiling(file, NAME)")
