"""Known CPU cost: a busy loop in user space and a rule set in softirq, on the server's core.

Each cost is the difference to the trials without it, just before and after, because the
connection itself also costs, and on a shared machine this cost changes from minute to minute.
Both are timed while they run: the busy loop by the server, the rules by a separate program (module
rules). It runs in all of these trials, so its own cost is not in the differences.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stackcost.analysis import cpu
from stackcost.analysis.core_time import Cost
from stackcost.analysis.flows import completed_in
from stackcost.analysis.readings import Readings
from stackcost.campaign.turn import PlannedTrial, PlannedTrials, Purpose
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.loads.constant import offer_load, prepare_load
from stackcost.selfcheck.calibration_server import CalibrationServer
from stackcost.selfcheck.row import Row, row
from stackcost.selfcheck.rules import CHAIN_RULES, Sends, load_rules, packets, sending
from stackcost.session.profile_session import ProfileSession

BURNS_US = (20.0, 100.0)
WALKS = 400
UNIT = "us per connection"
BURNT = "burnt"  # not a kind of CPU time: measured by the server's own clock


@dataclass(frozen=True, slots=True)
class Made:
    """A trial's readings, its cost per connection by kind, and the separate program's times."""

    seen: Readings
    cost: Cost
    sends: Sends


def known_cost_steps(
    session: ProfileSession,
    server: CalibrationServer,
    rounds: int,
    burns_us: Sequence[float] = BURNS_US,
) -> PlannedTrials[list[Row]]:
    """A row for each busy loop and one for the rules, from `rounds` rounds of all trials."""
    namespace = session.here.bed.server_namespace
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    prepare_load(session)
    load_rules(namespace, 0)
    bases = [(yield from _made(session, server))]
    for _ in range(rounds):
        for burn_us in burns_us:
            burn = yield from _made(session, server, burn_us)
            bases.append((yield from _made(session, server)))
            name = f"burn of {burn_us:g} us in user space: user time on the server's core"
            known, seen = (_more(burn, bases, kind) for kind in (BURNT, "user"))
            pairs[name].append((known, seen))
        load_rules(namespace, WALKS)
        walked = yield from _made(session, server)
        known = _walks_cost(walked, packets(namespace))
        load_rules(namespace, 0)
        bases.append((yield from _made(session, server)))
        name = f"{WALKS * CHAIN_RULES:,} nftables rules: softirq time on the server's core"
        pairs[name].append((known, _more(walked, bases, "softirq")))
    return [row(name, UNIT, *zip(*values, strict=True)) for name, values in pairs.items()]


def _made(
    session: ProfileSession, server: CalibrationServer, burn_us: float = 0.0
) -> PlannedTrials[Made]:
    """A load trial at the experiment's first load; each request runs a busy loop of this length."""
    server.set_burn(burn_us)
    first = server.request_number
    part, cores = session.experiment.load, session.experiment.cores.server
    load, sends = ConstantLoad(offered_cps=part.offered_cps[0]), Sends()

    def make(trial: Trial) -> None:
        with sending(session.here.bed.server_namespace, cores[0], sends):
            offer_load(session, trial, part)

    (trial,) = yield PlannedTrial(
        trial=Trial(server.name, 0, 1, load, session.response_bytes),
        make=make,
        words=f"a burn of {burn_us:g} us",
        purpose=Purpose(),
    )
    seen = Readings(trial)
    known: Cost = {
        BURNT: server.burnt(first, server.request_number),
        # The cost of the rules is known for the whole window, not for its undisturbed parts.
        "softirq": cpu.uncorrected_cost(seen, cores)["softirq"],
    }
    return Made(seen, cpu.server_cost(seen, cores) | known, sends)


def _walks_cost(made: Made, met_the_rules: int) -> float:
    """Microseconds per connection for the rules; `met_the_rules`: packets in the whole trial.

    The server's packets depend on its connections, those of the separate program on time.
    """
    trial, connections = made.seen.trial, completed_in(made.seen)
    assert connections is not None, "connections were not counted"
    sustained = made.sends.within(made.seen.phases["sustain"])
    of_server = (met_the_rules - made.sends.walks) / trial.traffic.completed
    return sustained.cost * (of_server + sustained.walks / connections)


def _more(made: Made, bases: Sequence[Made], kind: str) -> float:
    """The additional cost of a trial compared with the base trials before and after it."""
    above, before, after = (each.cost[kind] for each in (made, *bases[-2:]))
    assert above is not None and before is not None and after is not None, f"{kind} was not read"
    return above - (before + after) / 2
