"""A published comparison recomputed from its own raw data, step by step, from the claim onwards.

Each step replaces one thing that the claim counted by what the raw data say of it, so that what
it explains of the distance is the change from the step before; the last is what they say in all.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML

from stackcost.contracts.errors import StackcostError
from stackcost.published.document import Document
from stackcost.store.reading import first_fault

LINE_GBPS = 100.0
BUSY = ("us", "sy", "ni", "hi", "si")  # columns of top in which a CPU works


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fact(_Part):
    """A number, and where in the source it stands."""

    value: float
    at: str


class CpuFacts(_Part):
    """What the publication prints of CPU. `top`: percent of each logical CPU by column."""

    claimed: Fact
    nginx_cores_counted: Fact
    trex_cores_counted: Fact
    nginx_rate: Fact
    trex_rate: Fact
    nginx_gbps: Fact
    trex_gbps: Fact
    trex_server_busy: Fact
    nginx_mpps: Fact
    trex_mpps: Fact
    top_at: str
    top_columns: list[str]
    top: list[list[float]]

    @property
    def busy_cpus(self) -> float:
        """CPUs' worth of work of the nginx host: all columns but idle, waiting and stolen."""
        working = [at for at, name in enumerate(self.top_columns) if name in BUSY]
        return sum(row[at] for row in self.top for at in working) / 100


class MemoryFacts(_Part):
    """What it prints of memory, and what nginx was measured to take at start.

    `workers`: of nginx, as the publication counts them; `workers_by_auto`: as many as its
    configuration starts.
    """

    claimed: Fact
    nginx_bytes: Fact
    nginx_flows: Fact
    trex_bytes_per_flow: Fact
    worker_connections: Fact
    workers: Fact
    workers_by_auto: Fact | None = None  # older manifests lack it
    nginx_bytes_per_worker_connection: Fact


class Publication(Document):
    """A publication whose factors can be recomputed from its own raw data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    clock_hz: Fact
    cpu: CpuFacts
    memory: MemoryFacts


class CalculationStep(_Part):
    """`value`: the factor after this step, or another figure on the way, by its `unit`.

    `at_most`: the raw data leave less open, too.
    """

    of: Literal["cpu", "memory"]
    what: str
    value: float
    unit: str
    source: str
    at_most: bool = False


class PublishedCores(_Part):
    """Cores that one system needs for 100 Gb/s: as claimed, and by the busy share of its cores.

    `connections_per_core`, `gbps_per_core` and `mpps_per_core` (packets both ways): of one core
    that is busy all the time; None: in an older run, which did not compare packets.
    """

    system: str
    connections_per_core: float
    gbps_per_core: float
    mpps_per_core: float
    claimed: float
    busy: float


class RecomputedFactors(_Part):
    """The publication's factors, from its claim to what its raw data say."""

    title: str
    source: str
    steps: list[CalculationStep]
    cores: list[PublishedCores] = []

    def last(self, of: Literal["cpu", "memory"]) -> float:
        """The factor at the end of all steps."""
        return [step.value for step in self.steps if step.of == of and step.unit == "1"][-1]


def read_publication(path: Path) -> Publication:
    """A file of published/."""
    return Publication.model_validate(YAML(typ="safe").load(path.read_text()))


def recomputed(stored: Mapping[str, Any]) -> RecomputedFactors:
    """The same of the publication in a run's manifest; StackcostError if it is damaged."""
    try:
        return recompute(Publication.model_validate(stored))
    except ValidationError as error:
        raise StackcostError(
            f"the publication of this run is damaged: {first_fault(error)}"
        ) from error


def recompute(publication: Publication) -> RecomputedFactors:
    """All steps of both factors."""
    return RecomputedFactors(
        title=publication.title,
        source=publication.source,
        steps=_cpu_steps(publication) + _memory_steps(publication.memory),
        cores=_cores(publication.cpu),
    )


def _cpu_steps(publication: Publication) -> list[CalculationStep]:
    cpu, clock = publication.cpu, publication.clock_hz.value
    busy = cpu.busy_cpus
    rates = cpu.trex_rate.value / cpu.nginx_rate.value
    without_idle = cpu.claimed.value * busy / cpu.nginx_cores_counted.value
    both_busy = without_idle / (cpu.trex_cores_counted.value * cpu.trex_server_busy.value)
    by_rates = both_busy * rates / (cpu.trex_gbps.value / cpu.nginx_gbps.value)
    steps = [
        (
            "as claimed: whole machines, idle cores included",
            cpu.claimed.value,
            "1",
            cpu.claimed.at,
        ),
        ("busy CPUs of the nginx host, of 32", busy, "CPUs", cpu.top_at),
        ("nginx counted by its busy CPUs instead of 16 cores", without_idle, "1", cpu.top_at),
        (
            "TRex also counted by the busy share of its core",
            both_busy,
            "1",
            cpu.trex_server_busy.at,
        ),
        (
            "with the measured connections/s instead of rounded Gb/s",
            by_rates,
            "1",
            f"{cpu.nginx_rate.at}; {cpu.trex_rate.at}",
        ),
        (
            "nginx and kernel, busy cycles per connection",
            busy * clock / cpu.nginx_rate.value,
            "cycles",
            "busy CPUs x clock / rate",
        ),
        (
            "TRex server, busy cycles per connection",
            cpu.trex_server_busy.value * clock / cpu.trex_rate.value,
            "cycles",
            "busy share x clock / rate",
        ),
    ]
    return [CalculationStep(of="cpu", what=w, value=v, unit=u, source=s) for w, v, u, s in steps]


def _cores(cpu: CpuFacts) -> list[PublishedCores]:
    sides = (
        (
            "nginx and kernel",
            cpu.nginx_cores_counted,
            cpu.busy_cpus,
            cpu.nginx_rate,
            cpu.nginx_gbps,
            cpu.nginx_mpps,
        ),
        (
            "TRex",
            cpu.trex_cores_counted,
            cpu.trex_cores_counted.value * cpu.trex_server_busy.value,
            cpu.trex_rate,
            cpu.trex_gbps,
            cpu.trex_mpps,
        ),
    )
    return [
        PublishedCores(
            system=system,
            connections_per_core=rate.value / busy,
            gbps_per_core=gbps.value / busy,
            mpps_per_core=packets.value / busy,
            claimed=counted.value * LINE_GBPS / gbps.value,
            busy=busy * LINE_GBPS / gbps.value,
        )
        for system, counted, busy, rate, gbps, packets in sides
    ]


def _memory_steps(memory: MemoryFacts) -> list[CalculationStep]:
    total, flows = memory.nginx_bytes.value, memory.nginx_flows.value
    each = memory.trex_bytes_per_flow.value
    each_worker = memory.nginx_bytes_per_worker_connection.value * memory.worker_connections.value
    reserved = each_worker * memory.workers.value
    by_auto = memory.workers_by_auto
    steps = [
        ("as claimed, extrapolated to 100 Gb/s", memory.claimed.value, "1", memory.claimed.at),
        (
            "as measured at 5 Gb/s: all memory of nginx and kernel / active flows",
            total / flows / each,
            "1",
            f"{memory.nginx_bytes.at}; {memory.nginx_flows.at}",
        ),
        (
            "part of it: memory that nginx allocates at start for connections not opened yet, "
            f"{memory.workers.value:g} workers",
            reserved,
            "B",
            f"{memory.worker_connections.at}; {memory.workers.at}; "
            f"{memory.nginx_bytes_per_worker_connection.at}",
        ),
    ]
    if by_auto:
        steps.append(
            (
                f"the same with {by_auto.value:g} workers"
                + (": more than all of it" * (each_worker * by_auto.value > total)),
                each_worker * by_auto.value,
                "B",
                by_auto.at,
            )
        )
    steps.append(
        (
            f"without that of {memory.workers.value:g} workers" + ", so at most" * bool(by_auto),
            max(0.0, total - reserved) / flows / each,
            "1",
            "the lines above",
        )
    )
    found = [
        CalculationStep(of="memory", what=w, value=v, unit=u, source=s) for w, v, u, s in steps
    ]
    found[-1] = found[-1].model_copy(update={"at_most": by_auto is not None})
    return found
