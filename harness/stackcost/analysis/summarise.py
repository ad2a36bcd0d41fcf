"""From a run's trials to its summary."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from statistics import median

from stackcost.analysis.comparing.factors import factors, headline
from stackcost.analysis.context import Context
from stackcost.analysis.cost import flows, generators
from stackcost.analysis.cost.core_time import core_seconds
from stackcost.analysis.figures import registry
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.figures.latency import timed
from stackcost.analysis.figures.stacks import is_onload
from stackcost.analysis.memory.memory import Merged
from stackcost.analysis.memory.memory_total import HoldTrials
from stackcost.analysis.readings import Readings
from stackcost.analysis.summary import (
    ClientSettings,
    GeneratorResult,
    Level,
    Memory,
    ServerResult,
    Summary,
    TrialRow,
)
from stackcost.analysis.trial import checks
from stackcost.analysis.trial.acceptance import acceptance
from stackcost.analysis.trial.diagnosis import queues
from stackcost.analysis.trial.flags import disturbances, failures_of, flags_of
from stackcost.analysis.trial.overload import out_of_time, overload
from stackcost.contracts.load import ESTABLISHED, HeldFlows
from stackcost.contracts.metrics import CPU_EXACT_TIME, ENGINE_BUSY_TIME, ENGINE_TIME
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial

KINDS = ("user", "system", "irq", "softirq", "idle")
IDLE_POLLING = "idle polling"


def core_shares(trials: Sequence[Readings]) -> dict[str, dict[str, float]]:
    """Share (0 to 1) of each core's time by kind; the median over the trials.

    A kind that was not read is absent, and so is a core of which nothing was.
    """
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for readings in trials:
        for core in readings.by_label(CPU_EXACT_TIME, "cpu"):
            length = readings.phases["sustain"].length
            for kind, spent in _seconds(readings, core).items():
                shares[core][kind].append(spent / length)
    return {
        core: {kind: median(values) for kind, values in kinds.items()}
        for core, kinds in sorted(shares.items())
    }


def _seconds(readings: Readings, core: str) -> dict[str, float]:
    """Seconds of one core by kind; of an engine's, those of polling in vain stand apart.

    They are taken off user time, where an engine polls, and what is more than that off system time.
    """
    account = core_seconds(readings, int(core))
    kinds = asdict(account) if account else {}
    seconds = {kind: kinds[kind] for kind in KINDS if kinds.get(kind) is not None}
    whole = readings.growth(ENGINE_TIME, cpu=core)
    busy = readings.growth(ENGINE_BUSY_TIME, cpu=core)
    if whole is None or busy is None:
        return seconds
    left = seconds[IDLE_POLLING] = whole - busy
    for kind in ("user", "system"):
        taken = min(left, seconds.get(kind, 0.0))
        seconds[kind] = seconds.get(kind, 0.0) - taken
        left -= taken
    return seconds


def summarise(trials: Sequence[Trial], context: Context) -> Summary:
    """The whole answer of a run; figures of parts that did not run are None with a reason."""
    every_trial = [Readings(trial, context.server_cpus) for trial in trials]
    everything = [readings for readings in every_trial if not readings.trial.set_aside]
    past = _past_ceiling(everything, context)
    loads = [readings for readings in everything if not readings.trial.traffic.holds]
    loaded = {readings.trial.server for readings in loads}
    ceilings, merged = context.summary.ceilings, context.merged_caches
    common = headline(loads, loaded, ceilings, past).rate
    return context.summary.model_copy(
        update={
            "servers": [
                _server_result(system, trials, everything, context, past, common)
                for system in context.systems
            ],
            "factors": [
                factor
                for pair in context.pairs
                for factor in factors(everything, pair, ceilings, past, merged)
            ],
            "trials": [_row(readings) for readings in every_trial],
            "definitions": registry.definitions(registry.COSTS, context.figures),
        }
    )


def _past_ceiling(trials: Sequence[Readings], context: Context) -> dict[int, str]:
    """By the number of a load trial, the first sign that its server was past its ceiling."""
    signs = {
        readings.trial.number: overload(readings, _spins(readings, context))
        for readings in trials
        if not readings.trial.traffic.holds
    }
    return {number: found[0] for number, found in signs.items() if found}


def _spins(readings: Readings, context: Context) -> bool:
    """Whether the server may poll while it waits: by its tier (net.core.busy_poll, busy_read), or
    on Onload, where most profiles let it.
    """
    changes = context.summary.tuning.get(readings.trial.server, [])
    return is_onload(readings) or any(
        "busy_" in change.setting and change.after not in (None, "0") for change in changes
    )


def _server_result(
    system: System,
    trials: Sequence[Trial],
    everything: Sequence[Readings],
    context: Context,
    past: Mapping[int, str],
    common: float | None,
) -> ServerResult:
    """`common`: the load at which the costs of all systems are quoted; None: each has its own."""
    name = system.name
    own = [readings for readings in everything if readings.trial.server == name]
    loads = [readings for readings in own if not readings.trial.traffic.holds]
    lengths = {readings.trial.response_bytes for readings in own} - {None}
    offered: dict[tuple[str, float], list[Readings]] = {}
    for readings in loads:
        key = readings.trial.traffic.test, readings.trial.offered_cps
        offered.setdefault(key, []).append(readings)
    return ServerResult(
        **system.model_dump(),
        response_bytes=lengths.pop() if len(lengths) == 1 else None,
        levels=[_level(*key, offered[key], context, past) for key in _ordered(offered)],
        memories=_memory_by_state(
            own, [trial for trial in trials if trial.server == name], context.merged_caches
        ),
        headline=common or headline(loads, [name], context.summary.ceilings, past).rate,
    )


def _memory_by_state(
    own: Sequence[Readings], trials: Sequence[Trial], merged: Merged
) -> dict[str, Memory]:
    """Memory of one server's flows by the state in which they were held; states without a line are
    left out, unless there is a reason. `trials`: all of the server's, those set aside too.
    """
    by_state: dict[str, list[Readings]] = {ESTABLISHED: []}
    not_opened: dict[str, list[str]] = {}
    for trial in trials:
        if (held := trial.load_as(HeldFlows)) and held.not_opened:
            not_opened.setdefault(held.state, []).append(held.not_opened)
            by_state.setdefault(held.state, [])
    for readings in own:
        if readings.trial.traffic.holds:
            by_state.setdefault(readings.trial.traffic.state, []).append(readings)
    found = {
        state: HoldTrials(holds, merged, not_opened.get(state, ()))
        for state, holds in by_state.items()
    }
    return {
        state: _memory(holds) for state, holds in found.items() if holds.fitted or holds.per_flow[1]
    }


def _memory(holds: HoldTrials) -> Memory:
    return Memory(
        figures=registry.computed(registry.OF_MEMORY, holds),
        counted=holds.counted,
        counted_caches=holds.counted_caches,
        points={
            kind: [
                point
                for found in holds.fitted.values()
                if kind in found
                for point in found[kind].points
            ]
            for kind in holds.kinds
        },
    )


def _ordered(offered: Collection[tuple[str, float]]) -> list[tuple[str, float]]:
    """Tests in their own order, each one's rates ascending."""
    tests = list(dict.fromkeys(test for test, _ in offered))
    return sorted(offered, key=lambda key: (tests.index(key[0]), key[1]))


def _level(
    test: str,
    offered: float,
    trials: list[Readings],
    context: Context,
    past: Mapping[int, str],
) -> Level:
    settings = next(
        filter(None, (readings.trial.traffic.http_settings for readings in trials)), None
    )
    counts = filter(None, (readings.trial.traffic.counted for readings in trials))
    made = [readings.trial for readings in trials]
    return Level(
        offered_cps=offered,
        test=test,
        figures=registry.of_load(LoadTrials(trials, context, test)),
        http=ClientSettings(
            **asdict(settings), latency_means=next((each.latency_means for each in counts), "")
        )
        if settings
        else None,
        cores=core_shares(trials),
        timed=timed(made),
        attempted=_attempted(trials),
        acceptance=[] if test else acceptance(trials),
        flagged_trials=sum(bool(flags_of(readings)) for readings in trials),
        past_ceiling=next((past[t.trial.number] for t in trials if t.trial.number in past), ""),
        not_held=_not_held(trials, context, past),
        generators={
            name: GeneratorResult(part=share.part, clients=share.clients)
            for name, share in generators.parts(made).items()
        },
    )


def _not_held(trials: Sequence[Readings], context: Context, past: Mapping[int, str]) -> str:
    """Empty for a load that was held. "past the ceiling" only where the server had no time left,
    or a queue of it overflowed, in a trial: else what was asked for was lost for another reason.
    """
    over = [readings for readings in trials if readings.trial.number in past]
    if not over:
        return ""
    for readings in over:
        full = bool(out_of_time(readings, _spins(readings, context)))
        if full or any(queues(readings)):
            return "past the ceiling"
    return "not all passed"


def _attempted(trials: Sequence[Readings]) -> int | None:
    counts = [_begun_in(readings) for readings in trials]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _begun_in(readings: Readings) -> int | None:
    """Connections that began while the times of connections were recorded."""
    told = readings.trial.traffic.begun
    return flows.attempted_in(readings) if told is None else told


def _row(readings: Readings) -> TrialRow:
    trial, load = readings.trial, readings.trial.traffic
    return TrialRow(
        number=trial.number,
        round=trial.round,
        server=trial.server,
        part="memory" if load.holds else "load",
        offered_cps=load.rate,
        test=load.test,
        open_flows=load.open_flows,
        completed=load.completed,
        failed=load.failed,
        retransmitted=load.retransmitted,
        flags=flags_of(readings)
        + ([f"in no figure: {trial.set_aside}"] if trial.set_aside else []),
        failures=failures_of(readings),
        disturbed=[] if trial.set_aside else disturbances(readings),
        set_aside=trial.set_aside,
        checks=[] if trial.set_aside else checks.checks(readings),
    )
