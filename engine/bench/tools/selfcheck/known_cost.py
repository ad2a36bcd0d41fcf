"""Known CPU cost: what is added to a connection, and what the suite finds that it was.

Added are a busy loop and system calls, and rules and connection tracking in softirq. Each cost is
the difference to the trials without it, just before and after, because the connection itself also
costs, and on a shared machine this cost changes from minute to minute. What is added is timed while
it runs: loop and calls by the server, rules by a separate program (module rules). It runs in all of
these trials, so its own cost is not in the differences.

The rows of categories say what samples of stacks make of the same trials (`analysis.attribution`).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import sqrt
from operator import attrgetter
from statistics import mean
from typing import NamedTuple

from stackcost.analysis.cost import cpu
from stackcost.analysis.cost.core_time import Cost
from stackcost.analysis.cost.flows import completed_in
from stackcost.analysis.readings import Readings, sum_of
from stackcost.analysis.why.attribution import MEASURING, CategoryTime, attribution, by_category
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.runs.loads.constant import offer_load, prepare_load
from stackcost.runs.loads.kernel_states import tracked
from stackcost.runs.turn import PlannedTrial, PlannedTrials, Purpose
from stackcost.session.profile_session import ProfileSession

from .calibration_server import CalibrationServer
from .row import Row, row
from .rules import CHAIN_RULES, Sends, apply_rules, packets, sending

CALLS = 200
UNIT = "us per connection"
OWN = "user space, calibration_server"
ENTRY = "system-call entry and exit"
NETFILTER = "netfilter and connection tracking"
BURNT, WALKED = attrgetter("burnt"), attrgetter("walks")


@dataclass(frozen=True, slots=True)
class Made:
    """A trial's cost per connection by kind and by category; what was added, by its own clock.

    `burnt`: by the server's. `walks`: of the rules, by the separate program's.
    """

    cost: Cost
    parts: Mapping[str, CategoryTime]
    burnt: float
    walks: float

    @property
    def total(self) -> float | None:
        """Over all kinds."""
        return sum_of(self.cost.values())

    def us(self, *categories: str) -> float | None:
        """Of these categories; 0 of one without a sample, None without a breakdown."""
        if not self.parts:
            return None
        return sum(self.parts[name].us for name in categories if name in self.parts)

    def error(self, *categories: str) -> float:
        """Its standard error, by the number of samples alone."""
        return sqrt(sum(self.parts[name].error ** 2 for name in categories if name in self.parts))


class Answer(NamedTuple):
    """What is known of what was added, and what is found: of some kinds, or of some categories.

    Both are values of a trial; each less the same of the trials without it.
    """

    name: str
    known: Callable[[Made], float | None]
    kinds: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def value(self, made: Made) -> float | None:
        """What is found in a trial."""
        if self.categories:
            return made.us(*self.categories)
        return sum_of([made.cost[kind] for kind in self.kinds])

    def error(self, made: Made) -> float:
        """The standard error of it by the number of samples; 0 of kinds, which are exact."""
        return made.error(*self.categories)


@dataclass(frozen=True, slots=True)
class Addition:
    """Something that a trial has, and the base trials before and after it have not."""

    words: str
    answers: Sequence[Answer] = ()
    burn_us: float = 0.0
    calls: int = 0
    walks: int = 0
    is_tracked: bool = False


@dataclass(slots=True)
class Values:
    """Of an answer, one for each round."""

    known: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def take(self, answer: Answer, made: Made, bases: Sequence[Made]) -> None:
        """Those of one round: of a trial, less the mean of its base trials."""
        self.known.append(_more(answer.known, made, bases))
        self.seen.append(_more(answer.value, made, bases))
        of_bases = sum(answer.error(base) ** 2 for base in bases) / len(bases) ** 2
        self.errors.append(sqrt(answer.error(made) ** 2 + of_bases))


def _more(value: Callable[[Made], float | None], made: Made, bases: Sequence[Made]) -> float:
    known = [each for base in bases if (each := value(base)) is not None]
    above = value(made)
    assert above is not None and len(known) == len(bases), "a cost or its categories were not read"
    return above - mean(known)


def burn_of(microseconds: float, where: str = "user space") -> Addition:
    """A busy loop of each connection; `where` it is, in words."""
    name = f"burn of {microseconds:,.0f} us in {where}"
    return Addition(
        name,
        (
            Answer(f"{name}: user time on the server's core", BURNT, kinds=("user",)),
            Answer(f"{name}: {OWN}", BURNT, categories=(OWN,)),
        ),
        burn_us=microseconds,
    )


def _rules(walks: int) -> Addition:
    name = f"{walks * CHAIN_RULES:,} nftables rules"
    return Addition(
        name,
        (
            Answer(f"{name}: softirq time on the server's core", WALKED, kinds=("softirq",)),
            Answer(f"{name}: {NETFILTER}", WALKED, categories=(NETFILTER,)),
        ),
        walks=walks,
    )


CALLED = Addition(
    f"{CALLS} calls of getppid",
    # Each is traced here, to tell user from system time: what that takes is in both values, as is
    # the loop around them. The call itself asks who its parent is under RCU's lock.
    (
        Answer(
            f"{CALLS} calls of getppid: user and system time on the server's core",
            BURNT,
            kinds=("user", "system"),
        ),
        Answer(
            f"{CALLS} calls of getppid: {ENTRY}, {MEASURING}, user space",
            BURNT,
            categories=(ENTRY, MEASURING, "RCU", OWN, "user space, libc.so.6"),
        ),
    ),
    calls=CALLS,
)
TRACKED = Addition(
    "connection tracking",
    (Answer(f"connection tracking: {NETFILTER}", attrgetter("total"), categories=(NETFILTER,)),),
    is_tracked=True,
)
QUICK = (burn_of(100.0),)
OTHERS = (CALLED, _rules(400), burn_of(20.0), _rules(20), TRACKED)


def known_cost_steps(
    session: ProfileSession, server: CalibrationServer, rounds: int, quick: bool = False
) -> PlannedTrials[list[Row]]:
    """A row for each answer, from `rounds` rounds of all trials; `quick`: of one of them."""
    found: dict[str, Values] = defaultdict(Values)
    prepare_load(session)
    apply_rules(session.local_server.bed.server_namespace, 0)
    base = yield from made_with(session, server, Addition("nothing"))
    for _ in range(rounds):
        for added in QUICK if quick else (*QUICK, *OTHERS):
            before, made = base, (yield from made_with(session, server, added))
            base = yield from made_with(session, server, Addition("nothing"))
            for answer in added.answers:
                found[answer.name].take(answer, made, (before, base))
    return [row(name, UNIT, each.known, each.seen, each.errors) for name, each in found.items()]


def made_with(
    session: ProfileSession, server: CalibrationServer, added: Addition
) -> PlannedTrials[Made]:
    """A load trial at the experiment's first load, with what is added; its profile is loaded."""
    namespace = session.local_server.bed.server_namespace
    server.set_burn(added.burn_us)
    server.set_calls(added.calls)
    first = server.burns
    part, cores = session.experiment.load, session.experiment.cores.server
    load, sends = ConstantLoad(offered_cps=part.offered_cps[0]), Sends()

    def make(trial: Trial) -> None:
        with sending(namespace, cores[0], sends):
            offer_load(session, trial, part)

    planned = PlannedTrial(
        trial=Trial(server.name, 0, 1, load, session.response_bytes),
        make=make,
        words=added.words,
        purpose=Purpose(),
    )
    with tracked(session) if added.is_tracked else nullcontext():
        if added.walks:
            apply_rules(namespace, added.walks)
        (trial,) = yield planned
    readings, walks = Readings(trial, cores), 0.0
    if added.walks:
        walks = _walks_cost(readings, sends, packets(namespace))
        apply_rules(namespace, 0)
    cost = dict(cpu.server_cost(readings))
    # What was added in softirq is known for the whole window, not for its undisturbed parts.
    undisturbed, whole = cost["softirq"], cpu.uncorrected_cost(readings)["softirq"]
    scale = whole / undisturbed if whole and undisturbed else 1.0
    cost["softirq"] = whole
    divided = attribution(readings)
    parts = [
        part if part.kind in cost else part._replace(us=part.us * scale, error=part.error * scale)
        for part in (divided.parts if divided else ())
    ]
    return Made(cost, by_category(parts), server.burnt(first, server.burns), walks)


def _walks_cost(readings: Readings, sends: Sends, met_the_rules: int) -> float:
    """Microseconds per connection for the rules; `met_the_rules`: packets in the whole trial.

    The server's packets depend on its connections, those of the separate program on time.
    """
    connections = completed_in(readings)
    assert connections is not None, "connections were not counted"
    sustained = sends.within(readings.phases["sustain"])
    of_server = (met_the_rules - sends.walks) / readings.trial.traffic.completed
    return sustained.cost * (of_server + sustained.walks / connections)
