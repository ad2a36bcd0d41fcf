"""What each RPC method's answers of two generators are together; every method has a case here."""

from collections.abc import Callable
from typing import Any

import pytest

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
from stackcost.sides import sums

NAMES = ("one", "two")


def cores(hz: float, busy: float, cpu: int) -> dict[str, Any]:
    cycles = {"busy_cycles": busy, "copying_cycles": busy / 2, "sending_cycles": busy / 4}
    return {"tsc_hz": hz, "cores": [{"core": 0, "cpu": cpu, "total_cycles": 2 * busy, **cycles}]}


def seconds(core: int, generator: str, cpu: int, busy: float) -> dict[str, Any]:
    (found,) = cores(1, busy, cpu)["cores"]
    return found | {"core": core, "generator": generator}


def pool(name: str, in_use: int, reserved: int) -> dict[str, Any]:
    return {"name": name, "object_bytes": 64, "in_use": in_use, "reserved_bytes": reserved}


Answers = tuple[Any, Any, Any]
CASES: dict[str, Callable[[], Answers]] = {
    SCHEDULE_METHOD: lambda: (
        {"intended": 9, "late": 2},
        {"intended": 4, "late": 1, "unsent": 5},
        {"intended": 13, "late": 3, "unsent": 5},
    ),
    LATENCY_METHOD: lambda: (
        {"templates": [{"group": "web", "n": 1}]},
        {"templates": [{"group": "web", "n": 2}]},
        {"templates": [{"group": "web", "n": 1}, {"group": "web", "n": 2}]},
    ),
    TLS_METHOD: lambda: (
        {"templates": []},
        {"templates": [{"template": 0, "client": {"failed": 3}}]},
        {"templates": [{"template": 0, "client": {"failed": 3}}]},
    ),
    TLS_KEYS_METHOD: lambda: ({"lines": "a b\n"}, {"lines": "c d\n"}, {"lines": "a b\nc d\n"}),
    CPU_METHOD: lambda: (
        cores(1e9, 5e8, 3),
        cores(2e9, 4e9, 4),
        {"tsc_hz": 1, "cores": [seconds(0, "one", 3, 0.5), seconds(1, "two", 4, 2)]},
    ),
    DROPS_METHOD: lambda: (
        {"cores": [{"core": 0}], "devices": [{"lost": 1}]},
        {"cores": [{"core": 0}, {"core": 1}], "devices": []},
        {"cores": [{"core": 0}, {"core": 0}, {"core": 1}], "devices": [{"lost": 1}]},
    ),
    MEMORY_METHOD: lambda: (
        {"pools": [pool("flow", 3, 100), pool("timer", 1, 10)]},
        {"pools": [pool("flow", 4, 200)]},
        {"pools": [pool("flow", 7, 300), pool("timer", 1, 10)]},
    ),
    UTILIZATION: lambda: (
        {"cpu": [{"history": [10]}], "mbuf_stats": {}},
        {"cpu": [{"history": [20]}], "mbuf_stats": {}},
        {"cpu": [{"history": [10]}, {"history": [20]}]},
    ),
}


@pytest.mark.parametrize("method", CASES)
def test_two_answers_are_one_of_the_same_form(method: str) -> None:
    first, second, together = CASES[method]()
    before = repr((first, second))
    assert sums.sum_call(method, NAMES, [first, second]) == together
    assert repr((first, second)) == before, "what was answered is not changed"


def test_every_method_that_is_added_up_has_a_case() -> None:
    assert CASES.keys() == sums._SUMS.keys()
    with pytest.raises(StackcostError, match="no common answer to stackcost_hold_flows"):
        sums.sum_call("stackcost_hold_flows", NAMES, [{}, {}])
