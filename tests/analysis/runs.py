"""A whole run's trials with known answers: CPU factor 10, memory factor 4120 / 320."""

from dataclasses import replace
from typing import Any

from stackcost.analysis.context import Context
from stackcost.analysis.summary import Summary
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from tests.analysis.trials import hold_trial, load_trial

SYSTEMS = ("nginx/kernel", "astf-peer")
SETTING = Summary(
    run="20260101T000000-compare",
    title="a run made for a test",
    state="complete",
    machine={"cpu": "made for a test", "kernel": "6.18"},
    tcp="today",
)
CONTEXT = Context(
    summary=SETTING,
    systems=tuple(map(System.of, SYSTEMS)),
    pairs=(SYSTEMS,),
    load_cpus=(0,),
    server_cpus=(1,),
    merged_caches={},
)
MEMORY = {
    "nginx/kernel": {"slab.bytes": 3700.0, "sockstat.memory": 20.0, "process.pss": 400.0},
    "astf-peer": {"slab.bytes": 1.0, "process.pss": 5.0, "engine.pool_in_use": 320.0},
}


def context_with(**told: Any) -> Context:
    """CONTEXT of a run whose setting is another one."""
    return replace(CONTEXT, summary=SETTING.model_copy(update=told))


def compared(rounds: int = 3) -> list[Trial]:
    """Both servers in turn over some rounds, two loads and three counts of open flows each."""
    trials: list[Trial] = []
    for number in range(1, rounds + 1):
        drift = 1 + 0.01 * (number - 2)
        costs = {
            "nginx/kernel": {"user": 10, "system": 40, "irq": 1, "softirq": 49 * drift},
            "astf-peer": {"busy": 10 * (2 - drift)},
        }
        for server, cost in costs.items():
            for count in (0, 2000, 5000):
                at = len(trials) + 1
                trials.append(hold_trial(count, MEMORY[server], server, at, number))
            for offered in (1000, 2000):
                at = len(trials) + 1
                trials.append(load_trial(server, at, number, offered, cost, offered * 10))
    return trials
