"""What each path before the same server adds to a connection: hop by hop, and rule by rule.

A path is a device with a real server behind it. The bare server is the same server on a wire, on
the same cores. A connection's whole cost is that of these cores: the device's and the server's, or
the server's alone. So the difference of both is what the path adds, also where device and server
share a core and their softirqs cannot be separated. The generator's cost is in neither.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stackcost.analysis.comparing.comparison import Comparison
from stackcost.analysis.memory.slab import is_of_connection
from stackcost.analysis.spread import Spread, combined, spread
from stackcost.analysis.summary import Level, Memory, ServerResult, Summary
from stackcost.analysis.trial.thresholds import CONFIDENCE
from stackcost.report.paired import compare_paired
from stackcost.report.text_table import TextTable
from stackcost.report.words import change_of, number, with_range

BARE = "dut/wire"
SOFTIRQ = "softirq"
NANOSECONDS = 1e3  # in a microsecond


@dataclass(frozen=True, slots=True)
class Hop:
    """One path at one load, in microseconds per completed connection.

    `whole`: path and server together. `added`: that less the bare server's, by kind, paired by
    round. `added_whole`: the sum of `added`. `server`: of it the server's own processes and the
    threads that poll its interface. `compared`: `whole` against the bare server's, paired by round.
    """

    system: str
    whole: Spread
    added: Mapping[str, Spread]
    added_whole: Spread
    server: Spread
    compared: Comparison


@dataclass(frozen=True, slots=True)
class Hops:
    """All paths of a run at `offered_cps`, the highest load that every system held; in the order of
    the run, as two paths are not compared with each other.

    `bare`: the whole cost of the bare server; `bare_server`: its own part of it, as of `Hop`.
    """

    offered_cps: float
    bare: Spread
    bare_server: Spread
    hops: Sequence[Hop]


class PartsOfMemory(NamedTuple):
    """Bytes per open flow on each part of one path; None where unknown.

    The kernel's slab is that of the whole machine. A server's part of it is what the bare server's
    slab is per socket, times the sockets that the server has per flow; the rest is the path's. The
    generator has no sockets.
    """

    system: str
    path_kernel: float | None
    path_process: float | None
    server_kernel: float | None
    server_process: float | None


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A straight line through the softirq time of a connection over the length of a list of rules.

    `per_rule`: its slope, microseconds for each rule, and `low`, `high` the interval of that at
    95 % (Student's t); `at_none`: microseconds without any rule. `r_squared`: 1 if all points are
    on the line. `points`: (rules, microseconds), one for each round.
    """

    system: str
    per_rule: float
    low: float
    high: float
    at_none: float
    r_squared: float
    points: Sequence[tuple[int, float]]


def hops_of(summary: Summary) -> Hops | None:
    """None unless the run has the bare server and a path, both at a load that all of them held.

    Also None if the server was on the generator's cores: its cost is not known whole there.
    """
    if summary.backend_on != "device":
        return None
    held = {server.name: _held(server) for server in summary.servers}
    bare, others = held.pop(BARE, None), {name: at for name, at in held.items() if at}
    common = set(bare or ()).intersection(*others.values())
    if bare is None or not others or not common:
        return None
    rate = max(common)
    alone = bare[rate]
    whole = alone.cost
    found = {name: levels[rate] for name, levels in others.items()}
    compared = compare_paired((whole, level.cost) for level in found.values())
    return Hops(
        rate,
        whole,
        _own(alone),
        [
            Hop(
                name,
                level.cost,
                {kind: _more(cost, alone.costs.get(kind)) for kind, cost in level.costs.items()},
                _more(level.cost, whole),
                _own(level),
                each,
            )
            for (name, level), each in zip(found.items(), compared, strict=True)
        ],
    )


def rule_lines(summary: Summary) -> list[RuleLine]:
    """One line for each device that was measured with at least three lengths of its list."""
    points: dict[str, list[tuple[int, float]]] = {}
    for server in summary.servers:
        rules, level = server.settings.get("rules"), server.quoted
        if rules is not None and level and SOFTIRQ in level.costs:
            costs = level.costs[SOFTIRQ].values
            name = server.without("rules").name
            points.setdefault(name, []).extend((int(rules), cost) for cost in costs)
    lines = [_line(name, found) for name, found in points.items()]
    return [line for line in lines if line is not None]


def added(hop: Hop) -> dict[str, float]:
    """What a path adds by kind, microseconds, medians. A kind that is unknown is left out."""
    return {kind: cost.median for kind, cost in hop.added.items() if cost.median is not None}


def _held(server: ServerResult) -> dict[float, Level]:
    """Its loads below its ceiling at which the cost of path and server is known.

    Tests of HTTP clients are none: each has requests of its own, and a rate does not name one.
    """
    return {
        level.offered_cps: level
        for level in server.levels
        if not level.test and not level.past_ceiling and level.cost.median is not None
    }


def _own(level: Level) -> Spread:
    """By round; unknown in rounds in which a part is, and without any part."""
    parts = [(1, part) for part in level.kinds("backend_cpu").values()]
    return combined(parts) if parts else spread([], "us")


def _more(whole: Spread, bare: Spread | None) -> Spread:
    """By round; the bare server may lack a kind."""
    return combined([(1, whole), (-1, bare)]) if bare else whole


def _line(name: str, points: list[tuple[int, float]]) -> RuleLine | None:
    if len({rules for rules, _ in points}) < 3:
        return None
    from scipy.stats import linregress, t  # takes a second, which a stored answer does not need

    fitted = linregress([rules for rules, _ in points], [cost for _, cost in points])
    half = float(t.ppf((1 + CONFIDENCE) / 2, len(points) - 2) * fitted.stderr)
    slope = float(fitted.slope)
    return RuleLine(
        name,
        slope,
        slope - half,
        slope + half,
        float(fitted.intercept),
        float(fitted.rvalue**2),
        points,
    )


def memory_parts(summary: Summary) -> list[PartsOfMemory]:
    """Of the bare server and every path; empty without the bare server's memory and sockets."""
    held = {server.name: server.memory for server in summary.servers if server.memory}
    bare = held.get(BARE)
    slab, sockets = _slab(bare), _slope(bare.kinds("memory.sockets"), "backend") if bare else None
    if not slab or not sockets:
        return []
    found = []
    for name, memory in held.items():
        own, count = _slab(memory), _slope(memory.kinds("memory.sockets"), "backend")
        served = None if count is None else slab / sockets * count
        rest = None if own is None or served is None else own - served
        backend = _slope(memory.kinds("memory.per_flow"), "backend process")
        process = None if name == BARE else _slope(memory.kinds("memory.per_flow"), "process")
        kernel = None if name == BARE else rest
        found.append(PartsOfMemory(name, kernel, process, served, backend))
    return found


def _slab(memory: Memory | None) -> float | None:
    return _slope(memory.kinds("memory.per_flow"), "kernel slab") if memory else None


def _slope(slopes: Mapping[str, Spread], name: str) -> float | None:
    return slopes[name].median if name in slopes else None


def added_bytes(summary: Summary) -> dict[str, dict[str, float]]:
    """By path and slab cache, the bytes per open flow more than with the bare server (medians), of
    caches that connections are made of.

    A summary has the largest caches of each system: one that is not among those of the bare server
    counts as 0 there.
    """
    caches = {
        server.name: {
            name: each.median
            for name, each in server.memory.kinds("memory.caches").items()
            if each.median is not None and is_of_connection(name, {})
        }
        for server in summary.servers
        if server.memory
    }
    bare = caches.pop(BARE, None)
    if bare is None:
        return {}
    return {
        system: {name: size - bare.get(name, 0.0) for name, size in own.items()}
        for system, own in caches.items()
    }


def is_path(summary: Summary) -> bool:
    """Whether a run has paths and the bare server, or lists of several lengths."""
    return hops_of(summary) is not None or bool(rule_lines(summary))


def paths_answer(summary: Summary) -> str:
    """What each path with a verdict adds, and what a rule costs."""
    rules = " ".join(
        f"A rule of {line.system} costs {_per_rule(line, ' ns')}." for line in rule_lines(summary)
    )
    hops = hops_of(summary)
    if hops is None:
        none = "No path was measured beside the bare server in these runs."
        if summary.backend_on == "load":
            none = (
                "The server ran on the generator's cores in these runs, where its cost is not "
                "known whole, so what a path adds to it is not known (dut.server_on: device)."
            )
        return f"**{rules or none}**"
    shown = [hop for hop in hops.hops if hop.compared.differs]
    at = f"at {number(hops.offered_cps)} connections/s"
    if not shown:
        why = hops.hops[0].compared.reason or "no difference from the bare server was shown"
        text = f"**What a path adds is not sure** ({at}): {why}."
        return f"{text} {rules}".strip()
    told = [f"{hop.system} adds {number(hop.added_whole.median)} us" for hop in shown]
    text = (
        f"**A connection takes {number(hops.bare.median)} us of CPU on the bare server; "
        f"{'; '.join(told)}** ({at}, of {len(hops.hops)} paths those with a verdict; two paths are "
        "not compared with each other)."
    )
    return f"{text} {rules}".strip()


def paths_table(summary: Summary) -> TextTable:
    """Each path with its parts."""
    hops = hops_of(summary)
    if hops is None:
        return TextTable("", (), [])
    first = ("bare server", with_range(hops.bare), "", with_range(hops.bare_server), "", "")
    return TextTable(
        f"What each hop adds at {number(hops.offered_cps)} connections/s, microseconds of CPU per "
        "connection: median (min-max of the rounds). Server: the time of its own processes and of "
        "the threads that poll its interface, a part of path and server",
        ("system", "path and server", "path adds", "server", "more than bare", "adds by kind"),
        [first, *(_row(hop) for hop in hops.hops)],
    )


def memory_parts_table(summary: Summary) -> TextTable:
    """Each part's bytes per open flow."""
    return TextTable(
        "Bytes per open flow on each part, medians: of the kernel's slab, and of the processes. A "
        "server's slab is that of the bare server for each of its sockets; the rest is the path's",
        ("system", "path: kernel", "path: processes", "server: kernel", "server: processes"),
        [(each.system, *map(number, each[1:])) for each in memory_parts(summary)],
    )


def rules_table(lines: Sequence[RuleLine]) -> TextTable:
    """The cost of a rule of each list."""
    return TextTable(
        "A rule of a list, and a connection without any, in softirq",
        ("path", "ns per rule (95 % interval)", "us without rules", "straightness"),
        [
            (
                line.system,
                _per_rule(line),
                number(line.at_none),
                f"{line.r_squared:.3f}",
            )
            for line in lines
        ],
    )


def _row(hop: Hop) -> tuple[str, ...]:
    kinds = ", ".join(f"{kind} {number(cost)}" for kind, cost in added(hop).items())
    costs = map(with_range, (hop.whole, hop.added_whole, hop.server))
    return hop.system, *costs, change_of(hop.compared), kinds


def _per_rule(line: RuleLine, unit: str = "") -> str:
    cost, low, high = (number(each * NANOSECONDS) for each in (line.per_rule, line.low, line.high))
    return f"{cost}{unit} ({low} to {high})"
