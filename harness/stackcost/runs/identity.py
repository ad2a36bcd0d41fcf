"""Checks that a resumed run is still the same run: its plan, its profiles, its machine."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackcost.analysis.comparing.machines import differences
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.servers.registry import SUFFIX
from stackcost.store import Manifest

# Figures from before and after a change of one of these cannot be compared.
DECISIVE = (
    "kernel.release",
    "kernel.command_line",
    "kernel.cpu_accounting",
    "processors.model",
    "processors.online",
    "processors.mitigations",
    "memory.MemTotal",
)


def experiment_hash(experiment: Experiment) -> str:
    """SHA-256 of the plan as resolved."""
    return _hash(json.dumps(experiment.model_dump(mode="json"), sort_keys=True).encode())


def profile_hashes(experiment: Experiment) -> dict[str, str]:
    """SHA-256 by path of the existing files: profiles, and what is in files of one's own."""
    own = [server for server in experiment.servers if server.endswith(SUFFIX)]
    own += [
        *experiment.collectors,
        *([experiment.load.offered_by] if experiment.load.offered_by else []),
    ]
    paths = [experiment.load.profile, experiment.memory.profile, *map(Path, own)]
    return {str(path): _hash(path.read_bytes()) for path in paths if path.is_file()}


def check_resumable(manifest: Manifest, machine: Mapping[str, Any]) -> Experiment:
    """The plan of a run to resume; StackcostError if it would no longer be the same run."""
    if manifest.state == "complete":
        raise StackcostError(
            f"{manifest.run} is complete", "to start a new run: stackcost run EXPERIMENT"
        )
    experiment = manifest.plan_as(Experiment)
    now = profile_hashes(experiment)
    changed = [path for path, was in manifest.profile_hashes.items() if now.get(path) != was]
    changed += _changed_in_file(manifest)
    found = differences(manifest.machine, machine)
    decisive = [line for line in found if line.startswith(DECISIVE)]
    if experiment_hash(experiment) != manifest.experiment_hash:
        changed.append("the plan in its manifest, or the way this version reads it")
    if changed or decisive:
        raise StackcostError(
            f"{manifest.run} cannot be resumed, because it would no longer be the same run: "
            + "; ".join([*(f"{what} changed" for what in changed), *decisive]),
            "undo what changed, or start a new run: stackcost run EXPERIMENT",
        )
    return experiment


def _changed_in_file(manifest: Manifest) -> list[str]:
    """The keys of the experiment's file that have other values than when the run began.

    None if the file is gone: the manifest has the plan.
    """
    source = manifest.plan_file
    if source is None or not Path(source.path).is_file():
        return []
    now = read_experiment(Path(source.path), source.quick, source.share_cores)
    found = differences(manifest.experiment, now.model_dump(mode="json"))
    return [f"{source.path} ({line})" for line in found]


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
