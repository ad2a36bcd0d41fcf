"""Divides the exact times of a trial by the samples of its stacks.

Within each kind of time that is exact (user, system, each softirq vector), a category has that
kind's microseconds times its share of the kind's samples. User and system are divided by the same
samples, so there a share and its error are of both. So the parts add up to the figures of
`cost.cpu`, and a wrong rate of samples cannot make a total larger. Interrupts are not sampled:
their vectors say what they were.

A share p of n samples has a standard error of sqrt(p (1 - p) / n), as of draws from a multinomial
distribution. p is (k + 1/2) / (n + 1) there, by Jeffreys' prior: with k / n a category that has all
of few samples, or one of them, would be too sure (Brown, Cai, DasGupta: Interval Estimation for a
Binomial Proportion, Statistical Science 16, 2001).
"""

from collections import Counter, defaultdict
from collections.abc import Collection
from math import sqrt
from typing import NamedTuple

from stackcost.analysis.cost.breakdown import softirq_cost
from stackcost.analysis.cost.core_time import kernel_threads, own_processes
from stackcost.analysis.cost.cpu import server_cost
from stackcost.analysis.cost.stack_counts import (
    IN_KERNEL,
    TASKS,
    StackCount,
    sampled_user_share,
    stacks,
)
from stackcost.analysis.cost.user_share import is_divided_by_account
from stackcost.analysis.readings import Readings, kept
from stackcost.analysis.trial.thresholds import UNMATCHED_LIMIT
from stackcost.analysis.why.function_table import UNMATCHED, USER, table
from stackcost.contracts.metrics import IRQ_COUNT, IRQ_TIME, STACK_FIRED, STACK_SAMPLES

MEASURING, TIMERS = "the measurement itself", "timers"
WAKING, DEVICE = "scheduling and waking", "entry of interrupts and softirqs"
OF_VECTORS = {"local_timer": TIMERS, "device": DEVICE}  # others wake a core
INTERRUPT, NOT_SAMPLED = "interrupt {}", "not sampled"
OF_PEERS = ("stack", "busy")  # not divided: empty polls run in the same functions
COPYING, COPIES = "copying", "copy of payload into packets"  # a peer's own, exact without samples
NAMED = 10  # functions of no category that are named


class CategoryTime(NamedTuple):
    """Microseconds per connection of one category, on one behalf, within one kind of time.

    `error`: the standard error of its share of the samples, in microseconds. `interrupts_off`: the
    part of `us` that may belong to what ran before, while interrupts were off.
    """

    kind: str
    behalf: str
    category: str
    us: float
    error: float
    interrupts_off: float


class Attribution(NamedTuple):
    """All parts of a trial. `samples`: their number. `unmatched`: the share (0 to 1) of time in no
    category; `functions`: the innermost functions there, and the share of the time of each.
    """

    parts: list[CategoryTime]
    samples: int
    unmatched: float
    functions: list[tuple[str, float]]

    @property
    def reason(self) -> str:
        """Why there is no breakdown; empty if there is one."""
        if self.unmatched <= UNMATCHED_LIMIT:
            return ""
        named = ", ".join(f"{name} {share:.1%}" for name, share in self.functions)
        return f"{self.unmatched:.1%} of the time is in functions of no category: {named}"


class KindOfTime(NamedTuple):
    """Microseconds per connection of an exact kind of time, and what was found in it."""

    kind: str
    us: float
    samples: list[StackCount]

    @property
    def times(self) -> float:
        """How many samples it has."""
        return sum(each.times for each in self.samples)

    @property
    def whole(self) -> str:
        """Of a kind that is not divided what it was; else empty.

        That is the file in which it was found most often, or the copying of payload.
        """
        if self.kind == COPYING:
            return COPIES
        if self.kind not in OF_PEERS or not self.samples:
            return ""
        files = defaultdict[str, float](float)
        for each in self.samples:
            files[each.stack.partition(";")[0]] += each.times
        return max(files, key=files.__getitem__)


@kept
def attribution(readings: Readings) -> Attribution | None:
    """None where the stacks or the cost of the server's side are not known."""
    kinds = kinds_of(readings)
    if not kinds:
        return None
    unmatched: dict[str, float] = defaultdict(float)
    parts, counted = interrupts(readings), 0.0
    tasks = _tasks(readings, kinds)
    for found in kinds:
        kind, us, times = found.kind, found.us, found.times
        counted += times
        if whole := found.whole:
            category = whole if kind == COPYING else _of_file(whole)
            parts.append(CategoryTime(kind, USER, category, us, 0.0, 0.0))
            continue
        if not found.samples:
            parts.append(CategoryTime(kind, NOT_SAMPLED, UNMATCHED, us, us, 0.0))
            unmatched[NOT_SAMPLED] += us
        sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for each in found.samples:
            category, behalf, off = _about(each)
            sums[behalf, category][0] += each.times
            sums[behalf, category][1] += each.times * off
            if category == UNMATCHED:
                unmatched[each.stack.rpartition(";")[2]] += us * each.times / times
        for (behalf, category), (count, off_count) in sums.items():
            error = _error(count, tasks if tasks and kind in TASKS else found)
            off_us = us * off_count / times
            parts.append(CategoryTime(kind, behalf, category, us * count / times, error, off_us))
    total = sum(part.us for part in parts) or 1.0
    named = sorted(
        ((name, us / total) for name, us in unmatched.items()), key=lambda each: -each[1]
    )
    return Attribution(parts, round(counted), sum(share for _, share in named), named[:NAMED])


def why_none(readings: Readings) -> str:
    """Why a trial has no breakdown; empty if it has one."""
    found = attribution(readings)
    if found:
        return found.reason
    return (
        readings.why_unknown(STACK_SAMPLES) or "the stacks of the server's cores were not sampled"
    )


def kinds_of(readings: Readings) -> list[KindOfTime]:
    """The kinds of the server's cost, without interrupts; empty where it or stacks are unknown."""
    found, times = stacks(readings), _times(readings)
    if not is_divided_by_account(readings):
        found = [_of_its_mode(each) for each in found]
    own, threads = own_processes(readings), kernel_threads(readings)
    return [
        KindOfTime(kind, us, [each for each in found if _is_of(each, kind, own, threads)])
        for kind, us in times.items()
        if found and kind != "irq"
    ]


def _tasks(readings: Readings, kinds: Collection[KindOfTime]) -> KindOfTime | None:
    """User and system as one, where the same samples say how much each of them has; else None."""
    if is_divided_by_account(readings) or not sampled_user_share(readings, own_processes(readings)):
        return None
    both = [each for each in kinds if each.kind in TASKS]
    return KindOfTime(
        "task", sum(each.us for each in both), [each for of in both for each in of.samples]
    )


def _error(count: float, of: KindOfTime) -> float:
    """The standard error in microseconds of so many samples out of those of a time."""
    likely = (count + 0.5) / (of.times + 1)
    return of.us * sqrt(likely * (1 - likely) / of.times)


def _times(readings: Readings) -> dict[str, float]:
    """The known parts of the server's cost, us per connection: softirq by vector."""
    cost = dict(server_cost(readings))  # that one is kept for other figures
    if any(us is None for us in cost.values()):
        return {}
    if cost.pop("softirq", None) is not None:
        cost |= softirq_cost(readings)
    return {kind: us for kind, us in cost.items() if us is not None}


def interrupts(readings: Readings) -> list[CategoryTime]:
    """By vector; of the local timer's those that the sampling made are the measurement's."""
    us = server_cost(readings).get("irq") or 0.0
    spent, fired, ticked = Counter[str](), 0.0, 0.0
    for cpu in map(str, readings.cpus):
        spent.update(readings.by_label(IRQ_TIME, "vector", cpu=cpu))
        fired += readings.growth(STACK_FIRED, cpu=cpu) or 0.0
        ticked += readings.growth(IRQ_COUNT, cpu=cpu, vector="local_timer") or 0.0
    whole = sum(spent.values())
    parts = []
    for vector, seconds in spent.items():
        part, own = us * seconds / whole if whole else 0.0, 0.0
        if vector == "local_timer" and ticked:
            own = part * min(fired / ticked, 1.0)
            parts.append(CategoryTime("irq", INTERRUPT.format(vector), MEASURING, own, 0.0, 0.0))
        category = OF_VECTORS.get(vector, WAKING)
        parts.append(CategoryTime("irq", INTERRUPT.format(vector), category, part - own, 0.0, 0.0))
    return [part for part in parts if part.us]


def _of_its_mode(each: StackCount) -> StackCount:
    """A task that was on its way to the kernel or back counts as system, as in the user share."""
    kernel = each.kind == "user" and not each.in_user_mode
    return each._replace(kind="system") if kernel else each


def _is_of(each: StackCount, kind: str, own: Collection[str], threads: tuple[str, ...]) -> bool:
    """Whether a stack was found in this kind of the server's cost.

    `own`: the server's processes. `threads`: starts of the names of the kernel's that are its.
    """
    if kind == COPYING:
        return False
    if kind == "sending":
        return each.process in own and "_sys_send" in each.stack
    if kind in ("user", *OF_PEERS):
        return each.process in own and each.kind == "user"
    if kind == "system":
        return each.kind == kind and (each.process in own or each.command.startswith(threads))
    return each.kind == kind


def _about(each: StackCount) -> tuple[str, str, bool]:
    """Category, behalf, and whether interrupts were off before."""
    if each.kind == "user" and not IN_KERNEL.match(each.stack):
        return _of_file(each.stack.partition(";")[0]), USER, False
    found = table().find(each.stack)
    softirq = each.kind not in ("user", "system")
    return found.category, f"softirq {each.kind}" if softirq else found.behalf, found.interrupts_off


def _of_file(name: str) -> str:
    return f"{USER}, {name}"


def by_category(parts: Collection[CategoryTime]) -> dict[str, CategoryTime]:
    """The parts of each category added up; `kind` and `behalf` are empty."""
    found: dict[str, list[CategoryTime]] = defaultdict(list)
    for part in parts:
        found[part.category].append(part)
    return {
        name: CategoryTime(
            "",
            "",
            name,
            sum(part.us for part in each),
            sqrt(sum(part.error**2 for part in each)),
            sum(part.interrupts_off for part in each),
        )
        for name, each in found.items()
    }
