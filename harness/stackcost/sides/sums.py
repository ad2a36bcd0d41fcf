"""Adds up what several generators answer, so that the sum is an answer of the same form.

A counter of several generators is the sum of theirs. It is exact when no flow is open. While they
load a server, each is read at its own moment, some milliseconds apart.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stackcost.collect.engine import (
    CPU_METHOD,
    DROPS_METHOD,
    MEMORY_METHOD,
    SCHEDULE_METHOD,
    TLS_KEYS_METHOD,
    TLS_METHOD,
    UTILIZATION,
)
from stackcost.collect.latency import METHOD as LATENCY_METHOD
from stackcost.contracts.errors import StackcostError

AVERAGES = ("m_avg_size", "m_tx_ratio")  # their sum says nothing, so it is left out
LONGEST = "m_traffic_duration"
CYCLES = ("busy_cycles", "copying_cycles", "sending_cycles", "total_cycles")


def sum_stats(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The traffic of both sides, and of each port of the same number."""
    ports = [number for number in answers[0] if number.isdecimal()]
    whole = {number: _sum([answer.get(number, {}) for answer in answers]) for number in ports}
    sides = ("client", "server")
    traffic = {side: _sum([answer["traffic"][side] for answer in answers]) for side in sides}
    return {"traffic": traffic, **whole}


def sum_groups(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The counters of both sides by template group."""
    groups = dict.fromkeys(name for answer in answers for name in answer)
    return {
        name: {
            side: _sum([answer[name][side] for answer in answers if name in answer])
            for side in ("client", "server")
        }
        for name in groups
    }


def sum_call(method: str, names: Sequence[str], answers: Sequence[Any]) -> Any:
    """The answers to an RPC method. `names`: of the generators.

    StackcostError if answers to this method cannot be added up.
    """
    if method not in _SUMS:
        raise StackcostError(f"several generators have no common answer to {method}")
    return _SUMS[method](names, answers)


def _sum(parts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Numbers by name; what one of them lacks is 0 there, as TRex leaves zeros out."""
    found: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            if name in AVERAGES or not isinstance(value, int | float):
                continue
            so_far = found.get(name, 0)
            found[name] = max(so_far, value) if name == LONGEST else so_far + value
    return found


def _joined(names: Sequence[str], answers: Sequence[Any]) -> dict[str, Any]:
    """All that each lists (templates, cores, devices), one after the other: readers add them up."""
    lists = [name for name, value in answers[0].items() if isinstance(value, list)]
    return {name: [each for answer in answers for each in answer[name]] for name in lists}


def _lines(names: Sequence[str], answers: Sequence[Any]) -> dict[str, str]:
    return {"lines": "".join(answer["lines"] for answer in answers)}


def _cores(names: Sequence[str], answers: Sequence[Any]) -> dict[str, Any]:
    """All cores, numbered anew, in seconds: generators on two hosts have two clock rates."""
    cores = [
        {
            "core": core["core"],
            "cpu": core["cpu"],
            "generator": name,
            **{cycles: core[cycles] / answer["tsc_hz"] for cycles in CYCLES},
        }
        for name, answer in zip(names, answers, strict=True)
        for core in answer["cores"]
    ]
    return {"tsc_hz": 1.0, "cores": [core | {"core": at} for at, core in enumerate(cores)]}


def _pools(names: Sequence[str], answers: Sequence[Any]) -> dict[str, Any]:
    pools: dict[str, dict[str, Any]] = {}
    for answer in answers:
        for pool in answer["pools"]:
            so_far = pools.setdefault(pool["name"], pool | {"in_use": 0, "reserved_bytes": 0})
            for what in ("in_use", "reserved_bytes"):
                so_far[what] += pool[what]
    return {"pools": list(pools.values())}


_SUMS: dict[str, Callable[[Sequence[str], Sequence[Any]], Any]] = {
    SCHEDULE_METHOD: lambda names, answers: _sum(answers),
    LATENCY_METHOD: _joined,
    TLS_METHOD: _joined,
    TLS_KEYS_METHOD: _lines,
    CPU_METHOD: _cores,
    DROPS_METHOD: _joined,
    MEMORY_METHOD: _pools,
    UTILIZATION: _joined,
}
