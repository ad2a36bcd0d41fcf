"""Every column of every table: its unit, and what it is.

The unit "" is that of a name or a text, "yes or no" that of a mark; "1" is that of a number without
a unit.
"""

from typing import NamedTuple


class Column(NamedTuple):
    """`unit`: such as "us", "B", "1/s". `definition`: one sentence."""

    unit: str
    definition: str


YES_OR_NO = "yes or no"
_RUN = Column("", "name of the run's folder")
_SYSTEM = Column("", "name of the system; of several runs with the run's number before it")
_ROUND = Column("1", "round of the run, from 1 on")
_TEST = Column("", "test of HTTP clients; empty of loads by profiles")
_OFFERED = Column("1/s", "connections per second that were offered; 0 of a closed loop")
_REASON = Column("", "why a value is unknown; empty of a known one")
_QUOTED = Column(YES_OR_NO, "whether it is the load at which the report quotes the system's cost")

COSTS = {
    "run": _RUN,
    "system": _SYSTEM,
    "test": _TEST,
    "offered_cps": _OFFERED,
    "quoted": _QUOTED,
    "part": Column(
        "",
        '"time": time of the server\'s cores by kind, of which the sum is the cost; "softirq" and '
        '"thread" explain that sum by vector and by thread and are not added to it; "beside '
        'polling": the kernel\'s time on the cores of a polling peer; "generator": time of the '
        "generator, which is charged to no server",
    ),
    "kind": Column("", "kind of time, softirq vector, or command of the thread"),
    "round": _ROUND,
    "us": Column("us", "CPU time per completed connection (of HTTP clients: per request)"),
    "reason": _REASON,
}
MEMORY = {
    "run": _RUN,
    "system": _SYSTEM,
    "state": Column("", "state in which the flows were held, such as established or time-wait"),
    "part": Column("", '"kind": kind of memory; "cache": slab cache, a part of the kernel\'s slab'),
    "kind": Column("", "kind of memory, or name of the slab cache"),
    "counted": Column(YES_OR_NO, "whether the report's sum has it in"),
    "round": _ROUND,
    "bytes_per_flow": Column("B", "slope of memory over the number of flows held open"),
    "at_no_flow": Column("B", "the same line at no open flow; unknown of caches"),
    "reason": _REASON,
}
MEMORY_POINTS = {
    "run": _RUN,
    "system": _SYSTEM,
    "state": MEMORY["state"],
    "kind": Column("", "kind of memory"),
    "open_flows": Column("1", "flows held open when it was read"),
    "bytes": Column("B", "median of the readings inside the hold"),
}
LATENCY = {
    "run": _RUN,
    "system": _SYSTEM,
    "test": _TEST,
    "offered_cps": _OFFERED,
    "group": Column("", "template group of the profile; empty where it has none"),
    "kind": Column(
        "",
        'what the time ends with: "connect", "first_byte" or "completion", from the moment the '
        'schedule meant the connection to start; of HTTP clients "request" or "connection"',
    ),
    "percentile": Column("", '"p50", "p90", "p99", "p99.9" or "max"'),
    "round": _ROUND,
    "us": Column("us", "this share of the round's connections took at most so long"),
    "reason": _REASON,
}
TRIALS = {
    "run": _RUN,
    "trial": Column("1", "number of the trial in its run"),
    "round": _ROUND,
    "system": _SYSTEM,
    "part": Column("", '"load", "memory" (flows held open) or "search" (a step of a ceiling)'),
    "test": _TEST,
    "offered_cps": _OFFERED,
    "open_flows": Column("1", "flows to be held open; unknown of loads"),
    "completed": Column("1", "connections or requests of the whole trial that completed"),
    "failed": Column("1", "connections or requests of the whole trial that did not"),
    "retransmitted": Column("1", "segments that the generator sent again in the whole trial"),
    "us": Column("us", "the server's CPU time per completed connection, as the report counts it"),
    "whole_us": Column("us", "the same over the whole sustain window, slowed by neighbours or not"),
    "undisturbed_s": Column(
        "s", "of the sustain window, in which nothing slowed the server's cores"
    ),
    "load_ns": Column("ns", "what a load from memory shared with the host's other cores took"),
    "call_ns": Column("ns", "what two known system calls took on the server's cores"),
    "warm_up_s": Column("s", "from the start of the load to where its rate was steady"),
    "variation": Column(
        "1", "standard deviation of that rate in the window, as a share of its mean"
    ),
    "drift": Column("1", "growth of the rate over the window, as a share of its mean"),
    "correlation": Column("1", "Pearson's, of the running count with time; 1 is steady"),
    "flags": Column("", 'reasons to distrust the trial, joined by "; "; empty is good'),
    "set_aside": Column("", "why it is in no figure; empty of those that are"),
}
SAMPLES = {
    "run": _RUN,
    "trial": TRIALS["trial"],
    "round": _ROUND,
    "system": _SYSTEM,
    "phase": Column("", "window of the trial in which it was read; empty outside of all"),
    "seconds": Column("s", "since the start of the trial's first window"),
    "metric": Column("", "what was read, such as cpu.exact_time; docs/figures.md has all"),
    "core": Column("1", "number of the core that it belongs to; unknown where it belongs to none"),
    "labels": Column("", 'all that it belongs to, by name: labels.str.get("kind")'),
    "value": Column("as in `unit`", "as it was read: of a counter its running count"),
    "unit": Column("", "unit of the value"),
    "kind": Column("", '"counter", of which the growth counts, or "gauge", a level'),
    "source": Column("", "where it was read"),
    "reason": _REASON,
}
LOADS = {
    "run": _RUN,
    "system": _SYSTEM,
    "test": _TEST,
    "offered_cps": _OFFERED,
    "quoted": _QUOTED,
    "past_ceiling": Column("", "first sign that the server was past its ceiling; empty: none"),
    "figure": Column(
        "",
        '"completed", "server CPU" (the sum of its kinds), "generator busy", "undisturbed", '
        '"load from memory"; of HTTP clients also "rate", "bandwidth", "failed", "unsent", '
        '"connections open", "clients busy", "server busy", "process memory"; of caches also '
        '"hits", "from disk", "event loop blocked", "thread pool blocked"; docs/figures.md says '
        "how each is measured",
    ),
    "round": _ROUND,
    "value": Column("as in `unit`", "the figure in this round"),
    "unit": Column("", 'unit of the value; "1" of a share or a number'),
    "reason": _REASON,
}
TESTS = {
    "run": _RUN,
    "system": Column("", "name of the system, without its number of workers or cores"),
    "count": Column("1", "number of workers or cores; 1 where neither varies"),
    "counted": Column("", "what `count` counts, such as worker processes"),
    "test": _TEST,
    "offered_cps": _OFFERED,
    "figure": Column("", '"connections", "requests", "throughput" or "latency"'),
    "tls": Column(YES_OR_NO, "whether it was over TLS"),
    "round": _ROUND,
    "value": Column("as in `unit`", "what the clients reached in this round"),
    "unit": Column("", "unit of the value; of a latency also its percentile"),
    "reason": _REASON,
}
CHECKS = {
    "run": _RUN,
    "trial": Column(
        "1", "number of the trial; unknown of criteria of RFC 9411, which are over all rounds"
    ),
    "system": _SYSTEM,
    "offered_cps": _OFFERED,
    "check": Column("", "what was compared"),
    "holds": Column("", '"yes", "no", or "unknown" where one side is not known'),
    "wanted": Column("", "what the value had to be"),
    "seen": Column("", "what it was"),
    "reason": Column("", "why it is unknown; empty of a known one"),
}
FACTORS = {
    "run": _RUN,
    "factor": Column("", '"cpu" or "memory"'),
    "above": Column("", "system whose cost is divided"),
    "below": Column("", "system by whose cost it is divided"),
    "at": Column("", "the load, or of memory how the flows were held"),
    "above_cost": Column("us or B", "median cost on `above`: us per connection, or B per flow"),
    "below_cost": Column("us or B", "median cost on `below`: us per connection, or B per flow"),
    "round": _ROUND,
    "ratio": Column("1", "ratio of this round; unknown where rounds were not pairs"),
    "median": Column("1", "ratio of all rounds"),
    "low": Column("1", "lower end of its interval; without one the lowest round"),
    "high": Column("1", "upper end of its interval; without one the highest round"),
    "reason": _REASON,
}
COMPARISONS = {
    "a": Column("", "first run and its systems"),
    "b": Column("", "other run and its systems"),
    "figure": Column("", "what is compared; docs/figures.md has all"),
    "at": Column("", "the load in words"),
    "judged": Column(YES_OR_NO, "whether it has a verdict; parts of judged figures have none"),
    "a_median": Column("as in `unit`", "median of A's rounds; over several loads 1 is A's"),
    "b_median": Column("as in `unit`", "median of B's rounds; over several loads 1 is A's"),
    "unit": Column("", "unit of both medians"),
    "ratio": Column("1", "B over A"),
    "low": Column("1", "lower end of the ratio's interval"),
    "high": Column("1", "upper end of the ratio's interval"),
    "coverage": Column("1", "share of repetitions in which the interval holds the true ratio"),
    "effect": Column("1", "-1: B is always below A; 1: B is always above A"),
    "p": Column("1", "p value, corrected by Holm's method over the judged figures"),
    "verdict": Column("", "the answer, such as dearer or no difference shown"),
    "different": Column(YES_OR_NO, "whether the verdict is that A and B differ"),
    "reason": Column("", "why there is no verdict; empty where there is one"),
}
EVENTS = {
    "run": _RUN,
    "system": Column("", "name of the device"),
    "event": Column("", '"exhaustion", "half_open", "cut" or "killed"'),
    "at_s": Column("s", "when the table was full or the link was cut, from the traffic's start"),
    "before": Column("1/s", "requests answered on established connections before the event"),
    "after": Column("1/s", "requests answered on established connections after it"),
    "lost_established": Column("1", "established connections that were given up"),
    "first_failure_s": Column("s", "from when on new connections failed; unknown: none did"),
    "recovered_s": Column("s", "from when on they got through again; unknown: they did not"),
    "tracking": Column("", "counters of connection tracking that grew, and by how much"),
    "lost_inside": Column("1", "frames that the device received and did not send on"),
}
EVENT_SERIES = {
    "run": _RUN,
    "system": EVENTS["system"],
    "event": EVENTS["event"],
    "at_s": EVENTS["at_s"],
    "series": Column("", "what was read over time, with its unit"),
    "seconds": Column("s", "from the start of the traffic"),
    "value": Column("as in `series`", "the rate or level at that time"),
}
MIXES = {
    "run": _RUN,
    "system": EVENTS["system"],
    "step": Column("1", "number of the step, from 1; the last one may be at half load"),
    "asked": Column("1/s", "mixed flows per second that were asked of the generator"),
    "begun": Column("1/s", "mixed flows per second that it began"),
    "application": Column("", "template group of the profile"),
    "whole": Column(
        "1",
        "share of the application's connections that were established at the first attempt, or of "
        "its datagrams that were answered",
    ),
}
PUBLISHED = {
    "document": Column("", "title of the publication"),
    "table": Column("", "the table's name in it"),
    "title": Column("", "the table's title"),
    "shape": Column("", "what it measures; empty of a table that is no measurement over `x`"),
    "column": Column("", "name of the table's column"),
    "x_name": Column("", "what `x` is, such as worker processes"),
    "x": Column("as in `x_name`", "first cell of the row"),
    "value": Column("as in `unit`", "the number that is printed"),
    "unit": Column("", "unit of the value"),
    "better": Column("", '"higher" or "lower"; empty where neither is'),
}
PUBLISHED_MATCHES = {
    "document": PUBLISHED["document"],
    "table": PUBLISHED["table"],
    "what": Column("", "system, test and run that was measured here"),
    "x": Column("as in the table", "its place on the table's axis"),
    "value": Column("as in the table", "what was measured here"),
    "low": Column("as in the table", "lower bound of the search, or the lowest round"),
    "high": Column("as in the table", "upper bound of the search, or the highest round"),
    "reason": Column("", "why nothing was measured for this table; empty where something was"),
}
PUBLISHED_STEPS = {
    "factor": Column("", '"cpu" or "memory"'),
    "step": Column("1", "number of the step, from 1, the claim"),
    "what": Column("", "what is counted otherwise than in the step before"),
    "value": Column("as in `unit`", "the factor after this step, or another figure on the way"),
    "unit": Column("", 'unit of the value; "1" of a factor'),
    "source": Column("", "where the publication says so"),
}
TABLES = {
    "costs": COSTS,
    "memory": MEMORY,
    "memory_points": MEMORY_POINTS,
    "latency": LATENCY,
    "loads": LOADS,
    "tests": TESTS,
    "trials": TRIALS,
    "checks": CHECKS,
    "samples": SAMPLES,
    "factors": FACTORS,
    "comparisons": COMPARISONS,
    "events": EVENTS,
    "event_series": EVENT_SERIES,
    "mixes": MIXES,
    "published": PUBLISHED,
    "published_matches": PUBLISHED_MATCHES,
    "published_steps": PUBLISHED_STEPS,
}
