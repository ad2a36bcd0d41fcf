"""A stored run's answer: computed from its files, stored, printed, and rendered."""

from pathlib import Path
from typing import Any

from rich.console import Console

from harness.analysis.summarise import Context, summarise
from harness.analysis.summary import Summary
from harness.errors import StackcostError
from harness.experiment.matrix import pairs, variants
from harness.experiment.schema import Experiment
from harness.report.notebook import render
from harness.report.terminal import print_summary
from harness.store import Manifest, RunFolder


def answer(run: RunFolder, console: Console) -> Summary:
    """Write summary.json and report.html into the run's folder, and print the tables.

    Needs nothing but the folder, so it works again on any stored run, also on one cut short.
    StackcostError when it holds no trial.
    """
    trials = run.trials()
    if not trials:
        raise StackcostError(f"{run.path} holds no trial: the run ended before its first one")
    summary = summarise(trials, _context(run.manifest()))
    run.write_summary(summary)
    print_summary(summary, console)
    render(run.path)
    return summary


def _context(manifest: Manifest) -> Context:
    experiment = Experiment.model_validate(manifest.experiment)
    return Context(
        run=manifest.run,
        title=experiment.title,
        servers=tuple(each.name for each in variants(experiment) if not each.lacking),
        pairs=pairs(experiment),
        load_cpus=tuple(experiment.cores.load),
        server_cpus=tuple(experiment.cores.server),
        state="complete" if manifest.state == "complete" else "interrupted",
        machine=_machine(manifest),
        merged_caches=manifest.machine.get("kernel", {}).get("merged_slab_caches") or {},
    )


def _machine(manifest: Manifest) -> dict[str, Any]:
    """The lines of the manifest that a reader of figures needs first; the rest stands there."""
    kernel = manifest.machine.get("kernel", {})
    processors = manifest.machine.get("processors", {})
    memory = manifest.machine.get("memory", {})
    nginx = [each for name, each in manifest.servers.items() if name.startswith("nginx/kernel")]
    cores = manifest.experiment["cores"]
    return {
        "started": manifest.started,
        "processor": processors.get("model"),
        "cores online": len(processors.get("online", [])),
        "virtual machine": "yes" if processors.get("virtual") else "no",
        "cores of the load": ", ".join(map(str, cores["load"])),
        "cores of the server": ", ".join(map(str, cores["server"])),
        "memory": memory.get("MemTotal"),
        "kernel": kernel.get("release"),
        "kernel's CPU accounting": kernel.get("cpu_accounting"),
        "nginx": nginx[0].get("version") if nginx else None,
        "nginx and kernel tuning": ", ".join(each["tuning"]["tier"] for each in nginx),
        "generator": manifest.servers.get("generator", {}).get("program"),
        "everything else": str(Path(manifest.run) / "manifest.json"),
    }
