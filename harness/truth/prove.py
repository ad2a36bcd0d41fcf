"""The whole proof, line by line, on this machine."""

from harness.truth.bed import known_cost_session, truth_experiment
from harness.truth.known_cost import BURNS_US, prove_known_cost
from harness.truth.known_memory import prove_known_memory
from harness.truth.row import Row
from stackcost.collect.cpu_account import Detail

QUICK_BURNS_US = (100.0,)


def prove_known(rounds: int = 1, quick: bool = False) -> list[Row]:
    """Known cost and known memory, on one server in one session; `quick`: fewer burns.

    User time is told from system time at system calls: by ticks, as in a run, its share of a short
    trial is too rough (docs/figures.md).
    """
    experiment = truth_experiment(sustain_s=1 if quick else 2)
    with known_cost_session(experiment, detail=Detail.SYSTEM_CALLS) as (session, server):
        burns_us = QUICK_BURNS_US if quick else BURNS_US
        costs = prove_known_cost(session, server, rounds, burns_us)
        return costs + prove_known_memory(session, server, rounds)
