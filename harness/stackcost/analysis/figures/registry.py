"""All figures, in the order in which a summary has them."""

from collections.abc import Iterable, Iterator

from stackcost.analysis import factors
from stackcost.analysis.context import Context
from stackcost.analysis.figures import (
    collected,
    cpu,
    http,
    latency,
    machine,
    memory,
    rates,
    stacks,
    why,
)
from stackcost.analysis.figures.figure import Declared, Figure
from stackcost.analysis.figures.groups import Loads
from stackcost.analysis.memory_total import Holds
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Definition

OF_LOADS: tuple[Figure[Loads], ...] = (
    rates.FAILED,
    rates.COMPLETED,
    cpu.SERVER_CPU,
    cpu.SERVER_CPU_TOTAL,
    cpu.BEHIND_CPU,
    cpu.BESIDE_POLLING,
    cpu.SOFTIRQ,
    cpu.THREADS,
    why.WHY,
    why.ERROR,
    why.BAND,
    cpu.HARDWARE,
    machine.UNDISTURBED,
    machine.LOAD_TIME,
    machine.CLOSURE,
    cpu.GENERATOR_CPU,
    cpu.GENERATOR_BUSY,
    machine.RECEIVE_SHARE,
    latency.LATENCY,
    http.CONCURRENCY,
    http.RATE,
    http.BANDWIDTH,
    http.UNSENT,
    http.CLIENTS_BUSY,
    http.SERVER_BUSY,
    http.PROCESS_MEMORY,
    http.CONNECTION_SLAB,
    stacks.HIT_RATIO,
    stacks.DISK_SHARE,
    stacks.BLOCKED,
    stacks.WARM_AT_START,
    stacks.ONLOAD,
    stacks.OPENED,
    stacks.LATE,
    stacks.BUSY,
    stacks.STARTED,
    machine.ENERGY,
    rates.PACKETS,
    rates.SENT_AGAIN,
)
OF_MEMORY: tuple[Figure[Holds], ...] = (
    memory.PER_FLOW,
    memory.AT_NO_FLOW,
    memory.TOTAL,
    memory.STRAIGHTNESS,
    memory.CACHES,
    memory.SOCKETS,
)
ALL: tuple[Declared, ...] = (
    rates.OFFERED,
    *OF_LOADS,
    *OF_MEMORY,
    factors.CPU,
    factors.CPU_WITH_KERNEL,
    factors.CPU_WITHOUT_SENDING,
    factors.MEMORY,
)
JUDGED = tuple(figure.name for figure in ALL if figure.judged)
_IN_OTHER_TABLES = tuple(f"{each.name}." for each in OF_LOADS if each.table != "loads")


def of_load(loads: Loads) -> dict[str, Spread]:
    """Every figure of one system at one load, by name; with those of the run's own collectors."""
    own = [collected.figure(each) for each in loads.context.figures]
    wanted = [each for each in (*OF_LOADS, *own) if loads.test or each.of == "load"]
    return {name: found for each in wanted for name, found in each.spreads(loads).items()}


def of_memory(holds: Holds) -> dict[str, Spread]:
    """Every figure of one system's held flows, by name."""
    return {name: found for each in OF_MEMORY for name, found in each.spreads(holds).items()}


def in_loads(name: str) -> bool:
    """Whether a load's figure is in the table of loads, and in none of costs or latency."""
    return not name.startswith(_IN_OTHER_TABLES)


def definitions(context: Context | None = None) -> dict[str, Definition]:
    """What each figure is, by its name; a kind with a definition of its own follows its figure.

    With those that the run's own collectors bring.
    """
    own = [collected.figure(each) for each in context.figures] if context else []
    return dict(_defined(ALL)) | dict(_defined(own, own=True))


def _defined(figures: Iterable[Declared], own: bool = False) -> Iterator[tuple[str, Definition]]:
    for each in figures:
        kinds = {f"{each.name}.{kind}": told for kind, told in each.kinds.items()}
        for name, (words, source) in {each.name: (each.definition, each.source), **kinds}.items():
            yield name, Definition(unit=each.unit, definition=words, source=source, own=own)
