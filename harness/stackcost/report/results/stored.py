"""A stored run as its summary, complete or not.

A stored run is data: its manifest contains what is needed of its systems, and no file is opened or
executed because a manifest names it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from stackcost.analysis.head import Head, State
from stackcost.analysis.summary import Summary
from stackcost.contracts.dut_settings import BackendOn
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.system import NotMeasured, System, pairs
from stackcost.report.results.congestion import congestion_control
from stackcost.store import Manifest, RunFolder
from stackcost.store.folder import StoredTrials

if TYPE_CHECKING:
    from stackcost.analysis.context import Context

Answer = TypeVar("Answer", bound=Head)


class _Cores(BaseModel):
    load: list[int]
    server: list[int]


class _Dut(BaseModel):
    server: str
    server_on: BackendOn


class _Workload(BaseModel):
    tcp: str


class _Plan(BaseModel):
    """The parts of the plan that are needed to read a run that measured costs. `gate`: the figure
    that the pytest gate measures; empty for other runs.
    """

    title: str
    baseline: str | list[str]
    against: str
    cores: _Cores
    dut: _Dut
    workload: _Workload
    bed: dict[str, Any] | None
    http: dict[str, Any] | None
    core_hour_price: float | None
    gate: str = ""


def trials_of(run: RunFolder) -> StoredTrials:
    """All trials of a run. StackcostError when it holds none that can be read."""
    stored = run.stored()
    again = run.manifest().again
    if stored.damaged and not stored.trials:
        raise StackcostError(f"{run.path} contains no readable trial: {stored.damaged[0]}", again)
    if not stored.trials:
        missing = run.manifest().not_measured
        why = "; ".join(f"{name} was not measured: {why}" for name, why in missing.items())
        why = why or "the run ended before its first trial"
        raise StackcostError(f"{run.path} contains no trial: {why}", again)
    return stored


def state_of(manifest: Manifest) -> State:
    """Whether a run is complete, for its summary."""
    return "complete" if manifest.state == "complete" else "interrupted"


def summary_of(run: RunFolder) -> Summary:
    """A stored run's summary, computed from its trials. StackcostError when it holds none."""
    from stackcost.analysis.summarise import summarise

    manifest, stored = run.manifest(), trials_of(run)
    made = {trial.server for trial in stored.trials}
    systems = [
        each
        for each in manifest.systems
        if each.name in made or each.name not in manifest.not_measured
    ]
    summary = summarise(stored.trials, context_of(manifest, systems))
    return summary.model_copy(update={"damaged": stored.damaged})


def summarised(run: RunFolder, summarise: Callable[..., Answer]) -> Answer:
    """The summary of a run of another kind, by its `summarise`."""
    manifest, stored = run.manifest(), trials_of(run)
    setting = state_of(manifest), describe_setting(manifest)
    summary = summarise(stored.trials, run.name, manifest.experiment, *setting)
    return summary.model_copy(update={"damaged": stored.damaged})


def remarks(manifest: Manifest) -> list[str]:
    """The history of a run: how it ended, when it was resumed, and what changed."""
    lines = [f"state: {manifest.state}" + (f", {manifest.failure}" if manifest.failure else "")]
    for going_on in manifest.resumed:
        lines.append(f"resumed at {going_on.time} with trial {going_on.first_trial}")
        lines += [f"  changed before that: {line}" for line in going_on.changed]
    lines += [f"changed during the run: {line}" for line in manifest.changed]
    missing = manifest.not_measured | manifest.tests_not_measured
    return lines + [f"not measured: {name}: {why}" for name, why in missing.items()]


def context_of(manifest: Manifest, systems: list[System]) -> "Context":
    """What a run's trials do not say, of these systems of it."""
    from stackcost.analysis.context import Context

    plan = manifest.plan_as(_Plan)
    summary = Summary(
        run=manifest.run,
        title=plan.title,
        state=state_of(manifest),
        machine=describe_setting(manifest),
        tcp=plan.workload.tcp,
        backend_on=None if plan.dut.server == "engine" else plan.dut.server_on,
        ceilings=manifest.loads_found.ceilings if manifest.loads_found else {},
        loads_not_held=manifest.loads_found.not_held if manifest.loads_found else {},
        tuning={
            name: server["tuning"]["changes"]
            for name, server in manifest.servers.items()
            if "tuning" in server
        },
        not_measured=[
            NotMeasured(**each.model_dump(), why=manifest.not_measured[each.name])
            for each in manifest.systems
            if each.name in manifest.not_measured
        ],
        tests_not_measured=manifest.tests_not_measured,
        core_hour_price=plan.core_hour_price,
    )
    return Context(
        summary=summary,
        systems=tuple(systems),
        # HTTP tests do not compare costs at a common load.
        pairs=() if plan.http else pairs(systems, plan.baseline, plan.against),
        # Collectors read the server's host. The cores of the load on another one are not read.
        load_cpus=() if plan.bed else tuple(plan.cores.load),
        server_cpus=tuple(plan.cores.server),
        merged_caches=manifest.machine.get("kernel", {}).get("merged_slab_caches") or {},
        one_segment=_without_tso(manifest),
        figures=tuple(manifest.figures),
        of_gate=bool(plan.gate),
    )


def _without_tso(manifest: Manifest) -> bool:
    """Whether all interfaces of all of the run's beds are known to have it off."""
    beds = [bed.get("offloads") for bed in manifest.test_bed.values()]
    if not beds or not all(beds):
        return False
    states = [offloads for interfaces in beds for offloads in interfaces.values()]
    return not any(offloads.get("tcp-segmentation-offload", True) for offloads in states)


def hosts_of(manifest: Manifest) -> dict[str, dict[str, Any]]:
    """The description of each host of the test bed but the controller's, by its name."""
    return {
        name: host["machine"]
        for bed in manifest.test_bed.values()
        for name, host in bed.get("hosts", {}).items()
    }


ONE_CORE = "hardware threads of one core, server's with load's"


def describe_setting(manifest: Manifest) -> dict[str, Any]:
    """The most important settings from the manifest, for a reader of the figures."""
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
        **_shared_cores(processors.get("places", {}), cores["load"], cores["server"]),
        "memory": memory.get("MemTotal"),
        "kernel": kernel.get("release"),
        "kernel's CPU accounting": kernel.get("cpu_accounting"),
        **{
            f"host {name}": f"{host['processors']['model']}, kernel {host['kernel']['release']}"
            for name, host in hosts_of(manifest).items()
        },
        **{each["name"]: each["version"] for each in servers if each.get("version")},
        "tuning": ", ".join(tiers),
        **congestion_control(manifest),
        "generator": manifest.servers.get("generator", {}).get("program"),
        "everything else": str(Path(manifest.run) / "manifest.json"),
    }


def _shared_cores(
    places: Mapping[str, Mapping[str, int]], load: Sequence[int], server: Sequence[int]
) -> dict[str, str]:
    """CPUs of both sides that are hardware threads of one core; empty where there are none."""
    of_load = {places[str(cpu)]["core"]: cpu for cpu in load if str(cpu) in places}
    found = [
        f"{cpu} with {of_load[core]}"
        for cpu in server
        if cpu not in load and (core := places.get(str(cpu), {}).get("core")) in of_load
    ]
    return {ONE_CORE: ", ".join(found)} if found else {}
