"""docs/metrics.md defines every metric, with its unit, kind and labels, and no other."""

import re
from pathlib import Path

from stackcost.collect import (
    blocked,
    core_speed,
    cpu,
    cpu_account,
    energy,
    engine,
    groups,
    guest,
    hardware,
    kernel_log,
    latency,
    network,
    process,
    slab,
    slab_owners,
    softnet,
    stack_samples,
    tracking,
)
from stackcost.contracts.metrics import COUNT_INSTRUCTIONS, COUNT_STRING_BYTES, COUNT_SYSTEM_CALLS
from stackcost.contracts.sample import Metric
from stackcost.files import SERVERS
from stackcost.servers.own_files import module_of
from stackcost.stacks.onload import counters

CacheCollector = module_of(SERVERS / "nginx_cache/figures.py").CacheCollector

COLLECTORS = (
    blocked.BlockedTime,
    CacheCollector,
    core_speed.CoreSpeed,
    cpu.CpuTime,
    cpu_account.CpuAccount,
    energy.Energy,
    engine.Engine,
    engine.EngineTime,
    groups.Groups,
    guest.Guest,
    hardware.HardwareCounters(),
    kernel_log.KernelLog,
    latency.Latency,
    network.Network,
    counters.OnloadCounters,
    process.Processes,
    process.BackendProcesses,
    slab.Slab,
    slab_owners.SlabOwners,
    softnet.Softnet,
    stack_samples.StackSamples,
    tracking.Tracking,
)
ITEM = re.compile(r"^- `(\w+\.\w+)` \((\w+), (\w+)", re.MULTILINE)


def test_every_metric_is_defined_as_declared() -> None:
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    defined = {name: (unit, kind) for name, unit, kind in ITEM.findall(text)}
    metrics: list[Metric] = [metric for each in COLLECTORS for metric in each.metrics]
    metrics += [COUNT_INSTRUCTIONS, COUNT_STRING_BYTES, COUNT_SYSTEM_CALLS]
    assert defined == {metric.name: (metric.unit, str(metric.kind)) for metric in metrics}
