"""Every column of every table: its unit and its definition.

The unit "" is for a name or a text, "yes or no" for a mark, and "1" for a number without
a unit.
"""

from typing import NamedTuple

from stackcost.analysis.figures.registry import OF_TRIALS


class Column(NamedTuple):
    """`unit`: such as "us", "B", "1/s". `definition`: one sentence."""

    unit: str
    definition: str


YES_OR_NO = "yes or no"
_COMMON = {
    "run": Column("", "name of the run's folder"),
    "trial": Column("1", "number of the trial in its run"),
    "round": Column("1", "round of the run, from 1 on"),
    "system": Column("", "name of the system, after the run's number if there are several"),
    "test": Column("", "test of HTTP clients; empty for loads by profiles"),
    "offered_cps": Column("1/s", "offered connections per second; 0 for a closed loop"),
    "reason": Column("", "why the value is unknown"),
    "group": Column("", "template group of the profile"),
    "kind": Column(
        "",
        'what ended the time: "connect", "tls_handshake", "first_byte" or "completion"; of HTTP '
        'clients "request" or "connection"',
    ),
}


def _common(*names: str) -> dict[str, Column]:
    return {name: _COMMON[name] for name in names}


FIGURES = {
    **_common("run", "system"),
    "case": Column(
        "",
        "test of HTTP clients, state of held flows, event at a device, or "
        '"half": mixed traffic at half load; else empty',
    ),
    "figure": Column("", "name of the figure; docs/figures.md defines all"),
    "offered_cps": Column(
        "1/s", "offered load; 0 of a closed loop, unknown of memory, ceilings and events"
    ),
    "round": Column("1", "round of the run, or number of the search, from 1 on"),
    "value": Column("as in `unit`", "the figure in this round"),
    "unit": Column("", 'unit of the value; "1" for a share or a number'),
    **_common("reason"),
    "quoted": Column(
        YES_OR_NO,
        "whether the report quotes the cost at this load, or memory.total has it",
    ),
    "past_ceiling": Column("", "first sign that the server was past its ceiling"),
    "definition": Column("", "what is counted or computed, and per what"),
    "source": Column("", "where its parts are read"),
}

LATENCY = {
    **FIGURES,
    **_common("kind", "group"),
    "percentile": Column("", '"p50", "p90", "p99", "p99.9" and more of many connections, or "max"'),
}
WHY = {
    **_common("run", "trial", "round", "system", "test", "offered_cps"),
    "kind": Column("", "kind of time that is exact: as in `server_cpu`, and softirq by vector"),
    "behalf": Column("", "on whose behalf: a system call, a softirq, a poll thread, a page fault"),
    "category": Column("", "what was done, by the innermost function that has a category"),
    "us": Column("us", "time per completed connection; all rows of a trial add up to its cost"),
    "error": Column("us", "standard error of that time, from the number of samples"),
    "interrupts_off": Column(
        "us",
        "the part that may belong to other functions, as interrupts were off",
    ),
    **_common("reason"),
}
COUNTS = {
    **_common("run", "trial", "round", "system", "offered_cps"),
    "side": Column("", '"server", or "other": generator, idle task, interrupts and other threads'),
    "task": Column("", "name of the task; RCU callbacks are the server's, whatever they interrupt"),
    "mode": Column("", '"user" or "kernel"'),
    "function": Column(
        "", "function of the kernel, in user mode the file; of the server's side only"
    ),
    "category": Column("", "what the function does"),
    "instructions": Column("1", "executed per completed connection"),
    "string_bytes": Column(
        "B", "moved or cleared per completed connection by string instructions that repeat"
    ),
}
MEMORY_POINTS = {
    **_common("run", "system"),
    "state": Column("", "state in which the flows were held, such as established or time-wait"),
    "kind": Column("", "kind of memory"),
    "open_flows": Column("1", "flows held open when it was read"),
    "bytes": Column("B", "median of the readings inside the hold"),
}
MERGED_LATENCY = {
    **_common("run", "system", "test", "offered_cps", "group", "kind"),
    "timed": Column("1", "connections of all rounds together"),
    "percentile": Column("1", "share of these connections in percent, such as 99.9"),
    "us": Column("us", "time within which so many of them were over, known to 0.8 %"),
}
TRIALS = {
    **_common("run", "trial", "round", "system"),
    "part": Column("", '"load", "memory" (flows held open) or "search" (a step of a ceiling)'),
    **_common("test", "offered_cps"),
    "open_flows": Column("1", "planned open flows; unknown for loads"),
    "completed": Column("1", "completed connections or requests of the whole trial"),
    "failed": Column("1", "those that did not complete"),
    "retransmitted": Column("1", "segments that the generator retransmitted in the whole trial"),
    **{name: Column(each.unit, each.definition) for name, each in OF_TRIALS.items()},
    "flags": Column("", 'why the trial is flagged, separated by "; "'),
    "set_aside": Column("", "why no figure uses the trial"),
}
LATENCY_OVER_TIME = {
    **_common("run", "trial", "round", "system", "test", "offered_cps", "group", "kind"),
    "seconds": Column("s", "start of the second, from the start of the sustain window"),
    "us": Column("us", "a time that connections took, known to 0.8 %"),
    "count": Column("1", "how many connections that ended in this second took as long"),
}
SAMPLES = {
    **_common("run", "trial", "round", "system"),
    "phase": Column("", "phase in which it was read; empty outside of all"),
    "seconds": Column("s", "time since the start of the trial's first window"),
    "metric": Column("", "the metric, such as cpu.exact_time; docs/metrics.md lists all"),
    "core": Column("1", "number of the core, if it belongs to one"),
    "labels": Column("", 'all labels by name; use labels.str.get("kind")'),
    "value": Column("as in `unit`", "the value as read; for a counter the running count"),
    "unit": Column("", "unit of the value"),
    "kind": Column("", '"counter" (its growth is used) or "gauge" (a level)'),
    "source": Column("", "where it was read"),
    **_common("reason"),
}
TESTS = {
    **_common("run"),
    "system": Column("", "name of the system, without its number of workers or cores"),
    "count": Column("1", "number of workers or cores"),
    "counted": Column("", "what `count` counts, such as worker processes"),
    **_common("test", "offered_cps"),
    "figure": Column("", '"connections", "requests", "throughput" or "latency"'),
    "tls": Column(YES_OR_NO, "whether the test used TLS"),
    "version": Column("", "version of HTTP"),
    **_common("round"),
    "value": Column("as in `unit`", "the figure of the clients in this round"),
    "unit": Column("", "unit of the value; for a latency also its percentile"),
    **_common("reason"),
}
HTTP_COSTS = {
    **_common("run", "system"),
    "version": Column("", "version of HTTP"),
    "part": Column(
        "",
        '"request" and "connection" of a version over TLS; of TLS "connection without TLS", "full '
        'handshake", "resumed handshake", "request over TLS", "kilobyte over TLS": what each adds',
    ),
    "kind": Column("", "kind of time of the server's cores"),
    **_common("round"),
    "us": Column("us", "CPU time of one request, connection, handshake or 1,000 bytes"),
    **_common("reason"),
}
CHECKS = {
    **_common("run"),
    "trial": Column(
        "1", "number of the trial; unknown for criteria of RFC 9411, which use all rounds"
    ),
    **_common("system", "offered_cps"),
    "check": Column("", "the comparison"),
    "holds": Column("", '"yes", "no", or "unknown" if one side is unknown'),
    "wanted": Column("", "the expected value"),
    "seen": Column("", "the value found"),
    **_common("reason"),
}
FACTORS = {
    **_common("run"),
    "factor": Column("", '"cpu" or "memory"'),
    "baseline": Column("", "system whose cost is the numerator"),
    "against": Column("", "system whose cost is the denominator"),
    "at": Column("", "the load; for memory the numbers of flows"),
    "baseline_cost": Column(
        "us or B", "median cost on `baseline`: us per connection, or B per flow"
    ),
    "against_cost": Column("us or B", "median cost on `against`: us per connection, or B per flow"),
    **_common("round"),
    "ratio": Column("1", "ratio of this round; unknown if rounds were not paired"),
    "median": Column("1", "ratio of all rounds"),
    "low": Column("1", "lower end of its interval, or the lowest round"),
    "high": Column("1", "upper end of its interval, or the highest round"),
    **_common("reason"),
}
COMPARISONS = {
    "a": Column("", "first run and its systems"),
    "b": Column("", "other run and its systems"),
    "figure": Column("", "name of the figure; docs/figures.md defines all"),
    "at": Column("", "the load as text"),
    "judged": Column(YES_OR_NO, "whether it has a verdict; parts of judged figures have none"),
    "a_median": Column("as in `unit`", "median of A's rounds; over several loads relative to A"),
    "b_median": Column("as in `unit`", "median of B's rounds; over several loads relative to A"),
    "unit": Column("", "unit of both medians"),
    "ratio": Column("1", "the ratio B / A"),
    "low": Column("1", "lower end of the ratio's interval"),
    "high": Column("1", "upper end of the ratio's interval"),
    "coverage": Column("1", "share of repetitions in which the interval contains the true ratio"),
    "effect": Column("1", "-1: B is always below A; 1: always above"),
    "p": Column("1", "p value, corrected by Holm's method over the judged figures"),
    "verdict": Column("", "the verdict, such as dearer or no difference shown"),
    "different": Column(YES_OR_NO, "whether the verdict is that A and B differ"),
    "reason": Column("", "why there is no verdict"),
}
EVENT_SERIES = {
    **_common("run"),
    "system": Column("", "name of the device"),
    "event": Column("", '"exhaustion", "half_open", "cut" or "killed"'),
    "at_s": Column("s", "the figure event.at: when it happened"),
    "series": Column("", "name of the series, with its unit"),
    "seconds": Column("s", "time from the start of the traffic"),
    "value": Column("as in `series`", "the rate or level at that time"),
}
PUBLISHED = {
    "document": Column("", "title of the publication"),
    "table": Column("", "the table's name in it"),
    "title": Column("", "the table's title"),
    "shape": Column("", "what was measured over `x`, if it was"),
    "column": Column("", "name of the table's column"),
    "x_name": Column("", "what `x` is, such as worker processes"),
    "x": Column("as in `x_name`", "first cell of the row"),
    "value": Column("as in `unit`", "the printed number"),
    "unit": Column("", "unit of the value"),
    "better": Column("", '"higher", "lower" or empty'),
}
PUBLISHED_MATCHES = {
    "document": PUBLISHED["document"],
    "table": PUBLISHED["table"],
    "column": Column("", "name of the table's column, or of a row that is a figure"),
    "x": Column("as in the table", "its value on the table's axis"),
    "unit": Column("", "unit of the values"),
    "published": Column("as in `unit`", "the printed number; unknown if the table has no such row"),
    "what": Column("", "system, test and run that was measured here"),
    "value": Column("as in `unit`", "the value measured here"),
    "low": Column("as in `unit`", "lower bound of the search, or the lowest round"),
    "high": Column("as in `unit`", "upper bound of the search, or the highest round"),
    "ratio": Column("1", "measured here : published"),
    "published_gain": Column("1", "published, divided by the column's first row that both have"),
    "gain": Column("1", "measured here, divided by its own figure for that first row"),
    "reason": Column("", "why one of the two is missing"),
}
TABLES = {
    "figures": FIGURES,
    "why": WHY,
    "counts": COUNTS,
    "memory_points": MEMORY_POINTS,
    "latency": LATENCY,
    "merged_latency": MERGED_LATENCY,
    "latency_over_time": LATENCY_OVER_TIME,
    "tests": TESTS,
    "http_costs": HTTP_COSTS,
    "trials": TRIALS,
    "checks": CHECKS,
    "samples": SAMPLES,
    "factors": FACTORS,
    "comparisons": COMPARISONS,
    "event_series": EVENT_SERIES,
    "published": PUBLISHED,
    "published_matches": PUBLISHED_MATCHES,
}
