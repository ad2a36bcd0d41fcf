"""From a run's trials to its summary."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from stackcost.analysis import (
    breakdown,
    checks,
    core_time,
    cpu,
    flows,
    generators,
    http,
    traffic,
)
from stackcost.analysis.acceptance import acceptance
from stackcost.analysis.behind import behind_cost
from stackcost.analysis.closure import closure
from stackcost.analysis.cores import core_shares
from stackcost.analysis.definitions import DEFINITIONS
from stackcost.analysis.diagnosis import queues
from stackcost.analysis.disk_cache import cache_figures
from stackcost.analysis.factors import factors, headline
from stackcost.analysis.flags import failures_of, flags_of, steadiness_of
from stackcost.analysis.flows import shares_cores
from stackcost.analysis.head import State
from stackcost.analysis.latency import latency, timed
from stackcost.analysis.memory import Merged, connection_slab
from stackcost.analysis.memory_summary import summarise_memory
from stackcost.analysis.onload import is_onload, onload_figures
from stackcost.analysis.overload import out_of_time, overload
from stackcost.analysis.packets import packets_per_connection, why_no_packets
from stackcost.analysis.published import RecomputedFactors
from stackcost.analysis.readings import Readings
from stackcost.analysis.slowed import call_seconds, load_seconds
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import (
    NOT_READ,
    HttpFigures,
    Level,
    Memory,
    ServerResult,
    Summary,
    TrialRow,
)
from stackcost.analysis.undisturbed import undisturbed
from stackcost.contracts.dut_settings import BehindOn
from stackcost.contracts.load import HeldFlows
from stackcost.contracts.trial import Trial
from stackcost.contracts.tuning import Change

NANOSECONDS = 1e9
OTHER_HOST = "the kernel of the generator's host is not read"
MILLION = 1e6
UDP_CACHES = ("UDP", "PINGv6")  # of HTTP/3; the kernel may merge the two (net/ipv6/ping.c)
NOT_CUT = "not cut into slices: HTTP clients, a search, or a server that did not keep up"


@dataclass(frozen=True, slots=True)
class Context:
    """What the trials themselves do not say.

    `pairs`: servers to divide, above and below the line. `behind_on`: as of `Summary`.
    `load_cpus` are the generator's cores;
    empty if it is on another host than the server. `merged_caches`: see `stackcost.analysis.slab`;
    `one_segment`: see `stackcost.analysis.packets`.
    `tcp`, `ceilings`: as of `Summary`.
    """

    run: str
    title: str
    servers: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    load_cpus: tuple[int, ...]
    server_cpus: tuple[int, ...]
    state: State
    machine: dict[str, Any]
    merged_caches: Merged
    tcp: str = "today"
    behind_on: BehindOn | None = None
    ceilings: dict[str, float] = field(default_factory=dict)
    tuning: dict[str, list[Change]] = field(default_factory=dict)
    not_measured: dict[str, str] = field(default_factory=dict)
    tests_not_measured: dict[str, str] = field(default_factory=dict)
    published: RecomputedFactors | None = None
    core_hour_price: float | None = None
    one_segment: bool = False


def summarise(trials: Sequence[Trial], context: Context) -> Summary:
    """The whole answer of a run; figures of parts that did not run are None with a reason."""
    every_trial = [Readings(trial) for trial in trials]
    everything = [seen for seen in every_trial if not seen.trial.set_aside]
    past = _past_ceiling(everything, context)
    return Summary(
        run=context.run,
        title=context.title,
        state=context.state,
        machine=context.machine,
        servers=[_server_result(name, everything, context, past) for name in context.servers],
        factors=[
            factor
            for pair in context.pairs
            for factor in factors(
                everything,
                pair,
                context.server_cpus,
                context.ceilings,
                past,
                context.merged_caches,
            )
        ],
        trials=[_row(seen, context) for seen in every_trial],
        tcp=context.tcp,
        behind_on=context.behind_on,
        ceilings=context.ceilings,
        tuning=context.tuning,
        not_measured=context.not_measured,
        tests_not_measured=context.tests_not_measured,
        published=context.published,
        core_hour_price=context.core_hour_price,
        definitions=DEFINITIONS,
    )


def _past_ceiling(trials: Sequence[Readings], context: Context) -> dict[int, str]:
    """By the number of a load trial, the first sign that its server was past its ceiling."""
    signs = {
        seen.trial.number: overload(seen, context.server_cpus, _spins(seen, context))
        for seen in trials
        if not checks.is_hold(seen.trial)
    }
    return {number: found[0] for number, found in signs.items() if found}


def _spins(seen: Readings, context: Context) -> bool:
    """Whether the server may poll while it waits: by its tier (net.core.busy_poll, busy_read), or
    on Onload, where most profiles let it.
    """
    changes = context.tuning.get(seen.trial.server, [])
    return is_onload(seen) or any(
        "busy_" in change.setting and change.after not in (None, "0") for change in changes
    )


def _server_result(
    name: str, everything: Sequence[Readings], context: Context, past: Mapping[int, str]
) -> ServerResult:
    own = [seen for seen in everything if seen.trial.server == name]
    loads = [seen for seen in own if not checks.is_hold(seen.trial)]
    lengths = {seen.trial.response_bytes for seen in own} - {None}
    offered: dict[tuple[str, float], list[Readings]] = {}
    for seen in loads:
        key = traffic.test_of(seen.trial), seen.trial.offered_cps
        offered.setdefault(key, []).append(seen)
    memory = _memory_by_state(own, context.merged_caches)
    return ServerResult(
        name=name,
        response_bytes=lengths.pop() if len(lengths) == 1 else None,
        levels=[_level(*key, offered[key], context, past) for key in _ordered(offered)],
        memory=memory.pop(checks.ESTABLISHED, None),
        states=memory,
        headline=headline(loads, [name], context.server_cpus, context.ceilings, past).rate,
    )


def _memory_by_state(own: Sequence[Readings], merged: Merged) -> dict[str, Memory]:
    """Memory of one server's flows by the state in which they were held."""
    holds = [seen for seen in own if checks.is_hold(seen.trial)]
    states = dict.fromkeys(checks.state_of(seen.trial) for seen in holds)
    found = {
        state: summarise_memory([s for s in holds if checks.state_of(s.trial) == state], merged)
        for state in states
    }
    return {state: memory for state, memory in found.items() if memory is not None}


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
    rounds = _rounds(trials)

    def over(read: Callable[[Readings], float | None], unit: str, reason: str = "") -> Spread:
        return spread([read(seen) for seen in trials], unit, reason, rounds)

    def by_kind(
        cost: Callable[[Readings, Collection[int]], core_time.Cost],
        cpus: tuple[int, ...],
        unit: str = "us",
        reason: str = "",
    ) -> dict[str, Spread]:
        costs = [cost(seen, cpus) for seen in trials]
        kinds = dict.fromkeys(kind for each in costs for kind in each)
        return {
            kind: spread([each.get(kind) for each in costs], unit, reason, rounds) for kind in kinds
        }

    def closed(seen: Readings) -> float | None:
        found = closure(seen, "sustain")
        return found.share if found else None

    shared = "clients also ran on these cores" if any(shares_cores(t.trial) for t in trials) else ""
    lacking = next((why for t in trials if (why := cpu.why_no_cost(t, context.server_cpus))), "")
    none = next((why for t in trials if (why := flows.why_no_connection(t))), "")
    untimed = next((why for t in trials if (why := cpu.why_none_per_connection(t))), "")
    no_cycles = untimed or next((why for t in trials if (why := t.why_unknown("cpu.cycles"))), "")

    on_device = context.behind_on == "device"
    behind_cpus = context.server_cpus if on_device else context.load_cpus
    return Level(
        offered_cps=offered,
        completed_cps=over(flows.completed_rate, "1/s", none),
        server_cpu=by_kind(cpu.server_cost, context.server_cpus, reason=shared or lacking),
        server_cpu_total=over(
            lambda seen: cpu.server_total(seen, context.server_cpus), "us", shared or lacking
        ),
        behind_cpu=by_kind(behind_cost, behind_cpus, reason=untimed),
        beside_polling=by_kind(
            cpu.kernel_cost_on_polling_cores, context.server_cpus, reason=untimed
        ),
        softirq=by_kind(breakdown.softirq_cost, context.server_cpus, reason=untimed),
        threads=by_kind(breakdown.thread_cost, context.server_cpus, reason=untimed),
        hardware=by_kind(breakdown.hardware_cost, context.server_cpus, "1", no_cycles),
        undisturbed=over(lambda seen: _undisturbed_seconds(seen, context), "s", NOT_CUT),
        load_time=over(lambda seen: _nanoseconds(load_seconds(seen)), "ns"),
        closure=over(closed, "1"),
        generator_cpu=by_kind(
            http.client_cost if test else cpu.generator_cost,
            context.load_cpus,
            reason=shared or untimed or ("" if context.load_cpus else OTHER_HOST),
        ),
        generator_busy=over(
            lambda seen: (
                http.busy_share(seen, context.load_cpus)
                if test
                else core_time.engine_busy_share(seen, "generator")
            ),
            "1",
            "this generator does not report its busy cycles",
        ),
        receive_share=over(lambda seen: core_time.receive_share(seen, context.server_cpus), "1"),
        cores=core_shares(trials),
        latency=latency([seen.trial for seen in trials]),
        timed=timed([seen.trial for seen in trials]),
        attempted=_attempted(trials),
        acceptance=[] if test else acceptance(trials),
        flagged_trials=sum(bool(flags_of(seen, context.server_cpus)) for seen in trials),
        test=test,
        http=_http_figures(trials, context) if test else None,
        process_memory=(
            over(lambda seen: seen.level("process.pss", "sustain"), "B") if test else None
        ),
        connection_slab=(
            over(
                lambda seen: connection_slab(seen, context.merged_caches, "sustain", UDP_CACHES),
                "B",
            )
            if test
            else None
        ),
        past_ceiling=next((past[t.trial.number] for t in trials if t.trial.number in past), ""),
        not_held=_not_held(trials, context, past),
        energy=over(
            _energy_per_million,
            "J",
            none or next((why for t in trials if (why := t.why_unknown("energy.used"))), NOT_READ),
        ),
        packets=over(
            lambda seen: packets_per_connection(seen, context.one_segment),
            "1",
            none
            or next((why for t in trials if (why := why_no_packets(t, context.one_segment))), ""),
        ),
        cache=cache_figures(trials),
        onload=onload_figures(trials),
        generators=generators.figures(trials),
    )


def _not_held(trials: Sequence[Readings], context: Context, past: Mapping[int, str]) -> str:
    """Empty for a load that was held. "past the ceiling" only where the server had no time left,
    or a queue of it overflowed, in a trial: else what was asked for was lost for another reason.
    """
    over = [seen for seen in trials if seen.trial.number in past]
    if not over:
        return ""
    for seen in over:
        full = bool(out_of_time(seen, context.server_cpus, _spins(seen, context)))
        if full or any(queues(seen)):
            return "past the ceiling"
    return "not all passed"


def _attempted(trials: Sequence[Readings]) -> int | None:
    counts = [flows.attempted_in(seen) for seen in trials]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _rounds(trials: Sequence[Readings]) -> list[int]:
    return [seen.trial.round for seen in trials]


def _undisturbed_seconds(seen: Readings, context: Context) -> float | None:
    found = undisturbed(seen, context.server_cpus)
    return found.seconds if found else None


def _energy_per_million(seen: Readings) -> float | None:
    """Joules of the whole machine for a million connections."""
    used, count = seen.growth("energy.used", "sustain"), flows.completed_in(seen)
    return None if used is None or not count else MILLION * used / count


def _nanoseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * NANOSECONDS


def _http_figures(trials: list[Readings], context: Context) -> HttpFigures | None:
    settings = next(filter(None, (traffic.http_settings(seen.trial) for seen in trials)), None)
    if settings is None:
        return None

    rounds = _rounds(trials)

    def client_sum(name: Literal["rate", "bits_per_second", "unsent"], unit: str) -> Spread:
        return spread(
            [http.sum_over_clients(seen.trial, name) for seen in trials], unit, rounds=rounds
        )

    def busy(cpus: tuple[int, ...]) -> Spread:
        return spread([http.busy_share(seen, cpus) for seen in trials], "1")

    counts = filter(None, (traffic.http_counts(seen.trial) for seen in trials))
    return HttpFigures(
        **asdict(settings),
        concurrency=spread([http.concurrency(seen.trial) for seen in trials], "1"),
        rate=client_sum("rate", "1/s"),
        bandwidth=client_sum("bits_per_second", "bit/s"),
        failed=spread([float(flows.failed(seen.trial)) for seen in trials], "1"),
        unsent=client_sum("unsent", "1"),
        clients_busy=busy(context.load_cpus),
        server_busy=busy(context.server_cpus),
        latency_means=next((each.latency_means for each in counts), ""),
    )


def _row(seen: Readings, context: Context) -> TrialRow:
    trial, hold = seen.trial, checks.is_hold(seen.trial)
    held, steady = trial.traffic, steadiness_of(seen)
    return TrialRow(
        number=trial.number,
        round=trial.round,
        server=trial.server,
        part="memory" if hold else "load",
        offered_cps=trial.offered_cps,
        test=traffic.test_of(trial),
        open_flows=held.open_flows if isinstance(held, HeldFlows) else None,
        completed=flows.completed(trial),
        failed=flows.failed(trial),
        retransmitted=flows.retransmitted(trial),
        server_cpu_total=None if hold else cpu.server_total(seen, context.server_cpus),
        whole_cpu_total=None if hold else cpu.uncorrected_total(seen, context.server_cpus),
        undisturbed=None if hold else _undisturbed_seconds(seen, context),
        load_time=None if hold else _nanoseconds(load_seconds(seen)),
        call_time=None if hold else _nanoseconds(call_seconds(seen)),
        warm_up_s=seen.warm_up_s,
        variation=steady.variation if steady else None,
        drift=steady.drift if steady else None,
        correlation=steady.correlation if steady else None,
        flags=flags_of(seen, context.server_cpus)
        + ([f"in no figure: {trial.set_aside}"] if trial.set_aside else []),
        failures=failures_of(seen),
        set_aside=trial.set_aside,
        checks=[] if trial.set_aside else _checks(seen, context.server_cpus),
    )


def _checks(seen: Readings, server_cpus: Collection[int]) -> list[checks.Check]:
    if flows.is_http(seen.trial):
        return http.comparisons(seen)
    return checks.checks(seen, server_cpus)
