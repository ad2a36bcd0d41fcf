"""What each hop adds to a connection: the sentences, the table and the lines of rules."""

from collections.abc import Sequence

from stackcost.analysis.paths import (
    Hop,
    RuleLine,
    added,
    hops_of,
    known_hops,
    memory_parts,
    rule_lines,
)
from stackcost.analysis.summary import Summary
from stackcost.report.tables import TextTable
from stackcost.report.words import change_of, number, with_range

NANOSECONDS = 1e3  # in a microsecond


def is_path(summary: Summary) -> bool:
    """Whether a run has paths and the bare server, or lists of several lengths."""
    return hops_of(summary) is not None or bool(rule_lines(summary))


def paths_answer(summary: Summary) -> str:
    """What each path with a verdict adds, and what a rule costs."""
    rules = " ".join(_rule(line) for line in rule_lines(summary))
    hops = hops_of(summary)
    ordered = known_hops(hops) if hops else []
    if hops is None or not ordered:
        none = "No path was measured beside the bare server in these runs."
        if summary.backend_on == "load":
            none = (
                "The server ran on the generator's cores in these runs, where its cost is not "
                "known whole, so what a path adds to it is not known (dut.server_on: device)."
            )
        return f"**{rules or none}**"
    shown = [hop for hop in ordered if hop.compared.differs]
    at = f"at {number(hops.offered_cps)} connections/s"
    if not shown:
        why = ordered[0].compared.reason or "no difference from the bare server was shown"
        text = f"**What a path adds is not sure** ({at}): {why}."
        return f"{text} {rules}".strip()
    told = [f"{hop.system} adds {number(hop.added_whole.median)} us" for hop in shown]
    text = (
        f"**A connection takes {number(hops.bare.median)} us of CPU on the bare server; "
        f"{'; '.join(told)}** ({at}, of {len(ordered)} paths those with a verdict; two paths are "
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
        [first, *(_row(hop) for hop in known_hops(hops))],
    )


def memory_parts_table(summary: Summary) -> TextTable:
    """Each part's bytes per open flow."""
    return TextTable(
        "Bytes per open flow on each part, medians: of the kernel's slab, and of the processes. A "
        "server's slab is that of the bare server for each of its sockets; the rest is the path's",
        ("system", "path: kernel", "path: processes", "server: kernel", "server: processes"),
        [
            (
                each.system,
                number(each.path_kernel),
                number(each.path_process),
                number(each.server_kernel),
                number(each.server_process),
            )
            for each in memory_parts(summary)
        ],
    )


def rules_table(lines: Sequence[RuleLine]) -> TextTable:
    """The cost of a rule of each list."""
    return TextTable(
        "A rule of a list, and a connection without any, in softirq",
        ("path", "ns per rule (95 % interval)", "us without rules", "straightness"),
        [
            (
                line.system,
                f"{number(line.per_rule * NANOSECONDS)} ({_interval(line)})",
                number(line.at_none),
                f"{line.r_squared:.3f}",
            )
            for line in lines
        ],
    )


def _row(hop: Hop) -> tuple[str, ...]:
    kinds = ", ".join(f"{kind} {number(cost)}" for kind, cost in added(hop).items())
    more = change_of(hop.compared)
    return (
        hop.system,
        with_range(hop.whole),
        with_range(hop.added_whole),
        with_range(hop.server),
        more,
        kinds,
    )


def _rule(line: RuleLine) -> str:
    told = f"A rule of {line.system} costs {number(line.per_rule * NANOSECONDS)} ns"
    return f"{told} ({_interval(line)})."


def _interval(line: RuleLine) -> str:
    low, high = (number(end * NANOSECONDS) for end in (line.low, line.high))
    return f"{low} to {high}"
