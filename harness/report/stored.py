"""A stored run as its summary, whether it came to its end or not."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.analysis.head import State
from harness.analysis.published import Recomputed, read_publication, recompute
from harness.analysis.summary import PUBLISHED_TCP, Summary
from harness.errors import StackcostError
from harness.experiment.identity import plan_of
from harness.experiment.matrix import pairs, variants
from harness.model import Change, Trial
from harness.store import Manifest, RunFolder

if TYPE_CHECKING:
    from harness.analysis.summarise import Context

MeasuredKind = Literal["costs", "ceilings", "events"]


def kind_of(manifest: Manifest) -> MeasuredKind:
    """What a run measured: costs at given loads, ceilings, or a device that something befell."""
    if "ceiling" in manifest.experiment:
        return "ceilings"
    return "events" if "events" in manifest.experiment else "costs"


def trials_of(run: RunFolder) -> list[Trial]:
    """All trials of a run. StackcostError when it holds none."""
    trials = run.trials()
    if not trials:
        raise StackcostError(f"{run.path} holds no trial: the run ended before its first one")
    return trials


def state_of(manifest: Manifest) -> State:
    """Whether a run came to its end, for its summary."""
    return "complete" if manifest.state == "complete" else "interrupted"


def summary_of(run: RunFolder) -> Summary:
    """A stored run's summary, computed from its trials. StackcostError when it holds none."""
    from harness.analysis.summarise import summarise  # what a stored answer does not need

    return summarise(trials_of(run), _context(run.manifest()))


def remarks(manifest: Manifest) -> list[str]:
    """What happened to a run: how it ended, whether it went on, what changed meanwhile."""
    lines = [f"state: {manifest.state}" + (f", {manifest.failure}" if manifest.failure else "")]
    for going_on in manifest.resumed:
        lines.append(f"went on at {going_on.time} with trial {going_on.first_trial}")
        lines += [f"  changed until then: {line}" for line in going_on.changed]
    lines += [f"changed during the run: {line}" for line in manifest.changed]
    return lines + [f"not measured: {name}: {why}" for name, why in manifest.not_measured.items()]


def _context(manifest: Manifest) -> "Context":
    from harness.analysis.summarise import Context

    experiment = plan_of(manifest)
    return Context(
        run=manifest.run,
        title=experiment.title,
        servers=tuple(
            each.name
            for each in variants(experiment)
            if each.name not in manifest.not_measured or each.name in manifest.servers
        ),
        pairs=pairs(experiment),
        load_cpus=tuple(experiment.cores.load),
        server_cpus=tuple(experiment.cores.server),
        state=state_of(manifest),
        machine=describe_setting(manifest),
        tcp=manifest.experiment["workload"].get("tcp", PUBLISHED_TCP),
        ceilings=manifest.loads_found.ceilings if manifest.loads_found else {},
        tuning={
            name: [Change(**change) for change in server["tuning"]["changes"]]
            for name, server in manifest.servers.items()
            if "tuning" in server
        },
        not_measured=manifest.not_measured,
        published=_published(experiment.published),
        merged_caches=manifest.machine.get("kernel", {}).get("merged_slab_caches") or {},
    )


def _published(path: Path | None) -> Recomputed | None:
    """None too when the run was brought here without the file."""
    return recompute(read_publication(path)) if path and path.is_file() else None


def describe_setting(manifest: Manifest) -> dict[str, Any]:
    """The lines of the manifest that a reader of figures needs first; the rest stands there."""
    kernel = manifest.machine.get("kernel", {})
    processors = manifest.machine.get("processors", {})
    memory = manifest.machine.get("memory", {})
    servers = [each for each in manifest.servers.values() if "tuning" in each]
    tiers = dict.fromkeys(f"{each['name']}: {each['tuning']['tier']}" for each in servers)
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
        **{each["name"]: each["version"] for each in servers if each.get("version")},
        "tuning": ", ".join(tiers),
        "generator": manifest.servers.get("generator", {}).get("program"),
        "everything else": str(Path(manifest.run) / "manifest.json"),
    }
