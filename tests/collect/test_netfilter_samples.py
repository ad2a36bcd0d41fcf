"""Rules of known cost are found as netfilter, by the time that packets through them take."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from math import sqrt

import pytest

from engine.bench.tools.selfcheck.least_time import TO_SELF
from engine.bench.tools.selfcheck.rules import CHAIN_RULES, SKIPPING_PORT, Send, Sends, apply_rules
from stackcost.analysis.why.function_table import table
from stackcost.collect.cpu_account import CpuAccount
from stackcost.collect.sampler import Sampler
from stackcost.collect.stack_samples import StackSamples
from stackcost.contracts.metrics import SOFTIRQ_TIME, STACK_SAMPLES
from stackcost.contracts.sample import Sample
from stackcost.host.cores import online_cpus
from stackcost.host.namespace import run

pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(os.geteuid() != 0, reason="BPF and namespaces need root"),
]
CPU = online_cpus()[-1]
SECONDS = 2
# Every other packet meets the rules. A packet to oneself is received inside of the system call.
SEND = f"""{TO_SELF}
import json, time
to_walking, walking = to_self()
to_skipping, skipping = to_self({SKIPPING_PORT})
sent, end = [], time.monotonic() + {SECONDS}
while time.monotonic() < end:
    for walks in (True, False) * 20:
        began = time.monotonic_ns()
        (walking if walks else skipping).send(b"x")
        sent.append((began / 1e9, (time.monotonic_ns() - began) / 1e3, walks))
print(json.dumps(sent))
"""


def received(samples: list[Sample], metric: str, **wanted: str) -> dict[str, float]:
    """The last values on the core of the series with these labels, summed up by stack."""
    labels = {"cpu": str(CPU), **wanted}
    last = {
        tuple(sample.labels.items()): sample
        for sample in samples
        if sample.metric == metric and labels.items() <= sample.labels.items()
    }
    found: dict[str, float] = defaultdict(float)
    for sample in last.values():
        found[sample.labels.get("stack", "")] += sample.value or 0.0
    return found


@pytest.mark.parametrize("walks", [pytest.param(20, marks=pytest.mark.long), 400])
def test_rules_are_netfilter_by_what_packets_through_them_take_more(
    namespace: str, walks: int
) -> None:
    apply_rules(namespace, walks)
    account = CpuAccount()
    with Sampler([account, StackSamples(account, [CPU])], interval_s=10) as sampler:
        first = received(sampler.read_now(), SOFTIRQ_TIME.name, vector="NET_RX")[""]
        command = [sys.executable, "-S", "-c", SEND]
        said, _ = run(namespace, command, [CPU], stdout=subprocess.PIPE).communicate(timeout=60)
        read = sampler.read_now()
    sends = Sends(Send(*each) for each in json.loads(said))
    us = (received(read, SOFTIRQ_TIME.name, vector="NET_RX")[""] - first) * 1e6 / sends.walks
    stacks = received(read, STACK_SAMPLES.name, kind="NET_RX")
    of_rules = sum(n for stack, n in stacks.items() if "netfilter" in table().find(stack).category)
    times = sum(stacks.values())
    share = of_rules / times
    error = us * sqrt(share * (1 - share) / times)
    told = f"{walks * CHAIN_RULES} rules: {sends.cost:.2f} us, found {us * share:.2f} ({error:.2f})"
    print(told)
    assert abs(us * share - sends.cost) < 3 * error + 0.1 * sends.cost, told
