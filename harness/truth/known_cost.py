"""Known cost: a burn in user space and a rule set in softirq, in the right kind on the right core.

Each is seen as the difference to trials without it, the one before and the one after, as the
connection itself costs too, and on a shared machine by the minute more or less. A burn is timed by
the server while it goes on; what the rules cost is known of a core at its full speed alone, so
softirq time is reduced by as much as the probe of the core's speed says that a neighbour slowed it.
"""

from collections import defaultdict
from collections.abc import Sequence

from harness.analysis import cpu
from harness.analysis.core_time import Cost
from harness.analysis.flows import completed
from harness.analysis.readings import Readings
from harness.analysis.undisturbed import slowed_by
from harness.experiment.load_trial import prepare_load, run_load_trial
from harness.experiment.session import Session
from harness.model import Trial
from harness.truth.row import Row, row
from harness.truth.rules import CHAIN_RULES, cost_per_packet, load_rules, packets
from servers.known_cost import KnownCost

BURNS_US = (20.0, 100.0)
WALKS = 400
UNIT = "us per connection"
BURNT = "burnt"  # beside the kinds of time: by the server's own clock


def prove_known_cost(
    session: Session, server: KnownCost, rounds: int, burns_us: Sequence[float] = BURNS_US
) -> list[Row]:
    """A line for each burn and one for the rules, from `rounds` rounds of all trials in turn."""
    namespace, (core, *_) = session.bed.server_namespace, session.experiment.cores.server
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    prepare_load(session)
    load_rules(namespace, 0)
    bases = [_burn(session, server, 0)]
    for _ in range(rounds):
        for burn_us in burns_us:
            burn = _burn(session, server, burn_us)
            bases.append(_burn(session, server, 0))
            name = f"burn of {burn_us:g} us in user space: user time on the server's core"
            known, seen = (_more(burn, bases, kind) for kind in (BURNT, "user"))
            pairs[name].append((known, seen))
        per_packet = cost_per_packet(namespace, core, WALKS)
        load_rules(namespace, WALKS)  # anew: the counter has seen the calibration
        trial = _run(session, server)
        known = per_packet * packets(namespace) / completed(trial)
        load_rules(namespace, 0)
        bases.append(_burn(session, server, 0))
        name = f"{WALKS * CHAIN_RULES:,} nftables rules: softirq time on the server's core"
        pairs[name].append((known, _more(_cost(session, trial), bases, "softirq")))
    return [row(name, UNIT, *zip(*values, strict=True)) for name, values in pairs.items()]


def _burn(session: Session, server: KnownCost, burn_us: float) -> Cost:
    """Cost per connection by kind as the suite reports it; beside it the burn by the server."""
    server.set_burn(burn_us)
    first = server.request_number
    trial = _run(session, server)
    return _cost(session, trial) | {BURNT: server.burnt(first, server.request_number)}


def _run(session: Session, server: KnownCost) -> Trial:
    """One load trial at the experiment's first level."""
    trial = Trial(server.name, 1, session.experiment.load.offered_cps[0], load={"round": 1})
    trial.load["response_bytes"] = session.response_bytes
    run_load_trial(session, trial)
    return trial


def _cost(session: Session, trial: Trial) -> Cost:
    """Cost per connection by kind; softirq time as it is on a core at its full speed."""
    cores, seen = session.experiment.cores.server, Readings(trial)
    cost, slowed = cpu.server_cost(seen, cores), slowed_by(seen, cores)
    softirq = cost["softirq"]
    assert softirq is not None and slowed is not None, "the account of time was not read"
    return cost | {"softirq": softirq / (1 + slowed)}


def _more(loaded: Cost, bases: Sequence[Cost], kind: str) -> float:
    """What a trial cost more than the last two bases, which stood before and after it."""
    above, before, after = (cost[kind] for cost in (loaded, *bases[-2:]))
    assert above is not None and before is not None and after is not None, f"{kind} was not read"
    return above - (before + after) / 2
