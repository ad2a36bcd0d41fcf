"""All figures, in the order in which a summary has them, and those that own collectors bring."""

from collections.abc import Collection, Iterable, Iterator

from stackcost.analysis.comparing import factors
from stackcost.analysis.cost.cpu import why_none_per_connection
from stackcost.analysis.cost.flows import per_connection
from stackcost.analysis.device.event_trial import EventTrial
from stackcost.analysis.device.mix import MixSteps, Step
from stackcost.analysis.figures import (
    ceilings,
    counted,
    cpu,
    device,
    events,
    gate,
    http,
    latency,
    machine,
    memory,
    rates,
    stacks,
    why,
)
from stackcost.analysis.figures.figure import Declared, Figure, Of, Trials, Values
from stackcost.analysis.figures.groups import Group, LoadTrials
from stackcost.analysis.head import Definition
from stackcost.analysis.memory.memory_total import HoldTrials
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread
from stackcost.contracts.collector import CollectedFigure
from stackcost.contracts.sample import Kind, Metric


def figure_of(asked: CollectedFigure) -> Figure[LoadTrials]:
    """The figure that a collector declared: its unit is that of its values times `factor`."""
    metric = Metric(asked.metric, "", Kind.COUNTER, asked.source)  # its samples say unit and kind

    def compute(loads: LoadTrials) -> dict[str, Values] | Values:
        reason = loads.first_reason(lambda readings: readings.why_unknown(metric))
        if asked.per == "connection":
            reason = reason or loads.first_reason(why_none_per_connection)
        reason = reason or f"no sample of {asked.metric} was read in the sustain window"
        found = [_collected(readings, asked, metric) for readings in loads.trials]
        if asked.by:
            return loads.of_each(found, reason)
        sums = [sum(each.values()) if each else None for each in found]
        return Values(sums, loads.rounds, reason)

    return Figure[LoadTrials](
        name=asked.name,
        unit=asked.unit,
        definition=asked.definition,
        source=asked.source,
        of="load",
        compute=compute,
    )


def _collected(readings: Readings, asked: CollectedFigure, metric: Metric) -> dict[str, float]:
    """By label, or of the metric as a whole under the empty name."""
    if "sustain" not in readings.phases:
        return {}
    found = {
        name: asked.factor * value for name, value in readings.by_label(metric, asked.by).items()
    }
    if asked.per == "connection":
        each = {name: per_connection(readings, value) for name, value in found.items()}
        return {name: value for name, value in each.items() if value is not None}
    length = readings.phases["sustain"].length if asked.per == "second" else 1.0
    return {name: value / length for name, value in found.items()}


OF_LOADS: tuple[Figure[LoadTrials], ...] = (
    rates.FAILED,
    rates.COMPLETED,
    *counted.ALL,
    cpu.SERVER_CPU,
    cpu.SERVER_CPU_TOTAL,
    cpu.BACKEND_CPU,
    cpu.PEER_KERNEL_CPU,
    cpu.IDLE_TASK,
    cpu.SOFTIRQ,
    cpu.THREADS,
    why.WHY,
    why.ERROR,
    why.BAND,
    cpu.HARDWARE,
    machine.UNDISTURBED,
    machine.MEMORY_READ_TIME,
    machine.ACCOUNTED_SHARE,
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
    http.OTHERS_BUSY,
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
    gate.WHOLE_CORES,
    cpu.WHOLE_COST,
    machine.SYSTEM_CALL_TIME,
    rates.WARM_UP,
    rates.VARIATION,
    rates.DRIFT,
    rates.CORRELATION,
)
OF_TRIALS = {each.name: each for each in OF_LOADS if each.of_trials}
OF_DEVICES: tuple[Figure[Group], ...] = (device.FRAMES_LOST, device.TRACKING)
OF_MIXES: tuple[Figure[MixSteps], ...] = (device.MIX_CEILING,)
OF_MIX_STEPS: tuple[Figure[Step], ...] = (
    device.MIX_STARTED,
    device.MIX_WHOLE,
    device.MIX_TABLE_FULL,
)
OF_EVENTS: tuple[Figure[EventTrial], ...] = (
    events.AT,
    events.DEAD_TIMEOUT,
    events.BEFORE,
    events.AFTER,
    events.LOST_ESTABLISHED,
    events.NOT_ENDED,
    events.FIRST_FAILURE,
    events.RECOVERED,
)
OF_MEMORY: tuple[Figure[HoldTrials], ...] = (
    memory.PER_FLOW,
    memory.AT_NO_FLOW,
    memory.TOTAL,
    memory.STRAIGHTNESS,
    memory.CACHES,
    memory.OWNERS,
    memory.PASSED,
    memory.SOCKETS,
)
ALL: tuple[Declared, ...] = (
    rates.OFFERED,
    *OF_LOADS,
    *OF_MEMORY,
    factors.CPU,
    factors.MEMORY,
    *OF_DEVICES,
    *OF_MIXES,
    *OF_MIX_STEPS,
    *OF_EVENTS,
    *(figure for figures in ceilings.OF_CEILINGS.values() for figure in figures),
)
# What the figures of each kind of summary are of.
COSTS: tuple[Of, ...] = ("load", "http", "memory", "pair", "device", "gate")
CEILINGS: tuple[Of, ...] = ("ceiling",)
EVENTS: tuple[Of, ...] = ("event", "device")
_COUNTED = tuple(f"{each.name}." for each in counted.ALL)
_IN_OTHER_TABLES = tuple(f"{each.name}." for each in OF_LOADS if each.table != "loads")


def of_load(loads: LoadTrials) -> dict[str, Spread]:
    """Every figure of one system at one load, by name; with those of the run's own collectors."""
    own = [figure_of(each) for each in loads.context.figures]
    every: tuple[Figure[LoadTrials], ...] = (*OF_LOADS, *OF_DEVICES, *own)
    others = {"http": not loads.test, "gate": not loads.context.of_gate}
    return computed([each for each in every if not others.get(each.of)], loads)


def computed(figures: Iterable[Figure[Trials]], trials: Trials) -> dict[str, Spread]:
    """Each of these figures, or its kinds, by name: OF_MEMORY are of one system's held flows."""
    return {name: found for each in figures for name, found in each.spreads(trials).items()}


def in_loads(name: str) -> bool:
    """Whether a load's figure is in the table of loads, and in none of costs or latency."""
    return not name.startswith(_IN_OTHER_TABLES)


def is_judged(name: str) -> bool:
    """Whether a figure, or the one whose kind it is, is one of the main figures."""
    bare = name.rpartition(": ")[2]
    return any(each.judged and f"{bare}.".startswith(f"{each.name}.") for each in ALL)


def is_counted(name: str) -> bool:
    """Whether a figure, or the one whose kind it is, is a count of instructions."""
    return f"{name.rpartition(': ')[2]}.".startswith(_COUNTED)


def definitions(
    of: Collection[Of] = (), own: Iterable[CollectedFigure] = ()
) -> dict[str, Definition]:
    """What each figure is, by its name; a kind with a definition of its own follows its figure.

    `of`: only figures of these; empty: all. `own`: those that the run's own collectors bring.
    """
    wanted = [each for each in ALL if not of or each.of in of]
    return dict(_defined(wanted)) | dict(_defined(map(figure_of, own), own=True))


def _defined(figures: Iterable[Declared], own: bool = False) -> Iterator[tuple[str, Definition]]:
    for each in figures:
        kinds = {f"{each.name}.{kind}": told for kind, told in each.kinds.items()}
        for name, (words, source) in {each.name: (each.definition, each.source), **kinds}.items():
            yield name, Definition(unit=each.unit, definition=words, source=source, own=own)
