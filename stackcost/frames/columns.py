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
TABLES = {
    "costs": COSTS,
    "memory": MEMORY,
    "memory_points": MEMORY_POINTS,
    "latency": LATENCY,
    "trials": TRIALS,
    "samples": SAMPLES,
}
