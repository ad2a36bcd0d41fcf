"""What the time of the server's cores went to, finer than by kind: vectors, threads, cycles.

All per completed connection of the sustain window. The parts overlap with the kinds of
`cost.cpu` and explain them; they are not added to them.
"""

import re
from collections import defaultdict

from stackcost.analysis.cost import flows
from stackcost.analysis.cost.core_time import Cost, has_peer, kernel_threads, own_processes
from stackcost.analysis.cost.cpu import at_full_speed, us_per_connection
from stackcost.analysis.cost.threads import seconds_of_threads
from stackcost.analysis.readings import Readings, sum_of
from stackcost.contracts.metrics import CPU_CYCLES, CPU_INSTRUCTIONS, SOFTIRQ_TIME

# Kernel threads carry a number at their end: napi/sc-server0-8193, ksoftirqd/1, kworker/1:2-mm.
NUMBERED = re.compile(r"^(napi/.*?)-\d*$|^(ksoftirqd|migration|rcu\w*|kworker)/.*$")
SHOWN_US = 0.1  # what took less per connection is summed up as "others"
IN_NO_TOTAL = ", in no total"
HARDWARE = {"cycles": CPU_CYCLES, "instructions": CPU_INSTRUCTIONS}


def softirq_cost(readings: Readings) -> Cost:
    """Microseconds of the server's cores per connection by softirq vector, such as NET_RX."""
    found: dict[str, float] = defaultdict(float)
    for cpu in readings.cpus:
        for vector, spent in readings.by_label(SOFTIRQ_TIME, "vector", cpu=str(cpu)).items():
            found[vector] += spent
    costs = us_per_connection(readings, {vector: s for vector, s in found.items() if s > 0})
    return at_full_speed(readings, costs, "softirq")


def thread_cost(readings: Readings) -> Cost:
    """Microseconds of the server's cores per connection by the name of the thread that took them.

    The server's workers, the kernel's threads that work for it (ksoftirqd, napi/...), and every
    other one, with a mark that it is in no total; softirqs and interrupts on top of a thread are
    not in it. A peer's own threads are left out: most of their time is polls that found nothing.
    """
    found: dict[str, float] = defaultdict(float)
    own, kernel, peer = own_processes(readings), kernel_threads(readings), has_peer(readings)
    for thread, spent in seconds_of_threads(readings).items():
        if peer and thread.process in own:
            continue
        counts = not own or thread.process in own or thread.command.startswith(kernel)
        found[_family(thread.command) + ("" if counts else IN_NO_TOTAL)] += spent
    costs = at_full_speed(readings, us_per_connection(readings, found), "task")
    small = [name for name, cost in costs.items() if cost is not None and cost < SHOWN_US]
    others = sum(costs.pop(name) or 0.0 for name in small)
    ordered = dict(sorted(costs.items(), key=lambda item: item[1] or 0.0, reverse=True))
    return ordered | ({"others": others} if small else {})


def hardware_cost(readings: Readings) -> Cost:
    """Cycles and instructions of the server's cores per connection, in user and in kernel mode.

    Counts, not microseconds; a polling peer's hold those of polling in vain. None when not read.
    """
    costs: Cost = {}
    for event, metric in HARDWARE.items():
        for mode in ("user", "kernel"):
            counts = [readings.growth(metric, cpu=str(cpu), mode=mode) for cpu in readings.cpus]
            costs[f"{event}, {mode}"] = flows.per_connection(readings, sum_of(counts))
    return costs


def _family(command: str) -> str:
    """A thread's name without the number by which the kernel tells its like apart."""
    found = NUMBERED.match(command)
    return next(name for name in found.groups() if name) if found else command
