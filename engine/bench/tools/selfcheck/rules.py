"""An nftables rule set of known length, whose cost per packet is measured without tracepoints.

None of its rules matches, so each packet is compared with all of them, in the softirq that receives
it. One chain of rules is traversed many times by a chain of jumps, which is itself traversed many
times. So the rules need little memory, and their cost does not depend on the caches. The cost is
measured by the clock of a program that sends packets to itself over loopback, in the same namespace
on the same core, while the server is under load: what slows the core slows both. Every other packet
of this program skips the rules.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import mean, median
from typing import NamedTuple

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.window import Window
from stackcost.host.namespace import execute, run

from .least_time import TO_SELF

TABLE = "stackcost"
CHAIN_RULES = 20
JUMPS = 10  # walks of the chain for each jump to the chain of jumps
LONGEST = 3.0  # times the median of all
SKIPPING_PORT = 7009  # packets to it meet no rules

# Before all others on its core, so that what it times is its own; until its input ends. Pauses
# differ, so that they do not fall in with a timer of the machine.
SENDER = f"""{TO_SELF}
import itertools, json, os, random, select, sys, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
to_walking, walking = to_self()
to_skipping, skipping = to_self({SKIPPING_PORT})
sent = []
for walks in itertools.cycle((True, False)):
    if select.select([sys.stdin], [], [], random.uniform(0.002, 0.003))[0]:
        break
    sender = walking if walks else skipping
    began = time.monotonic_ns()
    sender.send(b"x")
    sent.append((began / 1e9, (time.monotonic_ns() - began) / 1e3, walks))
print(json.dumps(sent))
"""


def apply_rules(namespace: str, walks: int) -> None:
    """Compare received packets, except those to SKIPPING_PORT, with the rules `walks` times.

    `walks` is a multiple of JUMPS.
    """
    text = f"table ip {TABLE}\ndelete table ip {TABLE}\n"
    if walks:
        rules = "\n".join(
            ["ip saddr 203.0.113.1 drop"] * CHAIN_RULES
        )  # RFC 5737: an address for documentation
        inner = "\n".join(["jump rules"] * JUMPS)
        outer = "\n".join(["jump walks"] * (walks // JUMPS))
        hook = "type filter hook input priority 0;"
        text += f"table ip {TABLE} {{\nchain rules {{\n{rules}\n}}\nchain walks {{\n{inner}\n}}\n"
        skip = f"udp dport {SKIPPING_PORT} accept"
        text += f"chain input {{\n{hook}\n{skip}\ncounter\n{outer}\n}}\n}}\n"
    execute(namespace, ["nft", "-f", "-"], stdin=text)


def packets(namespace: str) -> int:
    """Packets that were compared with the rules so far, by the counter of nftables."""
    answer = json.loads(execute(namespace, ["nft", "-j", "list", "chain", "ip", TABLE, "input"]))
    parts = [
        part for entry in answer["nftables"] if "rule" in entry for part in entry["rule"]["expr"]
    ]
    return int(next(part["counter"]["packets"] for part in parts if "counter" in part))


class Send(NamedTuple):
    """A packet over loopback: CLOCK_MONOTONIC second, microseconds, whether it met the rules."""

    at: float
    took: float
    walked: bool


class Sends(list[Send]):
    """All packets of the program; every other one meets the rules."""

    def within(self, window: Window) -> "Sends":
        """The packets of a window."""
        return Sends(send for send in self if window.start <= send.at <= window.end)

    @property
    def walks(self) -> int:
        """The number of packets that met the rules."""
        return sum(send.walked for send in self)

    @property
    def cost(self) -> float:
        """Microseconds per packet for the rules."""
        walking, skipping = (
            _mean([send.took for send in self if send.walked is walked]) for walked in (True, False)
        )
        return walking - skipping


def _mean(values: Sequence[float]) -> float:
    """The mean without delayed packets, which would have too much weight in a small sample."""
    usual = LONGEST * median(values)
    return mean(value for value in values if value <= usual)


@contextmanager
def sending(namespace: str, cpu: int, sends: Sends) -> Iterator[None]:
    """Run a program that sends a packet to itself every few ms; `sends` receives its times."""
    command = [sys.executable, "-S", "-c", SENDER]
    process = run(namespace, command, [cpu], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield
    finally:
        said, _ = process.communicate(timeout=10)
        if process.returncode:
            raise StackcostError(f"the program that sends packets to itself failed in {namespace}")
        sends += [Send(*each) for each in json.loads(said)]
