"""A stored run with known answers, written through the store as the runner does."""

from pathlib import Path
from typing import Any

from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.store import Manifest, RunFolder
from tests.analysis.runs import compared

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"
SYSTEMS = [System.of("nginx/kernel"), System.of("astf-peer")]
MACHINE = {
    "kernel": {"release": "6.18.0", "cpu_accounting": "TICK_CPU_ACCOUNTING"},
    "processors": {"model": "Test <CPU>", "online": [0, 1], "virtual": True},
}


def experiment() -> dict[str, Any]:
    """The plan of compare.yaml as a manifest has it."""
    return read_experiment(COMPARE).model_dump(mode="json")


def store(root: Path, trials: list[Trial] | None = None, state: str = "complete") -> RunFolder:
    run = RunFolder.create(root, "compare")
    run.write_manifest(
        Manifest(
            run=run.name, state=state, experiment=experiment(), systems=SYSTEMS, machine=MACHINE
        )  # type: ignore[arg-type]
    )
    for trial in compared() if trials is None else trials:
        run.add_trial(trial)
    return run
