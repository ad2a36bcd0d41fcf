"""Proves counts by work whose number of instructions is known, in two boots of a guest.

python -m engine.bench.tools.selfcheck.counted EXPERIMENT prints a table, and ends with 1 if a row
is wrong.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from stackcost.analysis.trial.thresholds import COUNTS_DIFFER
from stackcost.contracts.load import CountedLoad
from stackcost.contracts.metrics import COUNT_INSTRUCTIONS, COUNT_STRING_BYTES
from stackcost.contracts.sample import Metric
from stackcost.contracts.trial import Trial
from stackcost.contracts.wiring import SERVER_NAMESPACE
from stackcost.counting.counts import Count, Where, read_counts
from stackcost.counting.programs import known_program
from stackcost.counting.session import CountingSession, open_counting_session
from stackcost.experiment.counted_section import Counted
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.read_file import experiment_file, read_experiment
from stackcost.runs.loads.counted import CountedConnections
from stackcost.servers.registry import server_class
from stackcost.session.progress import Progress

BYTES = 32_768
RULES = (0, 100, 1000)
CHAIN = "add table ip t; add chain ip t c {{ type filter hook input priority 0; }}; {rules}"
RULE = "add rule ip t c ip saddr 203.0.113.{} drop; "
NETFILTER = ("nft_", "nf_")
GETPPID = "__x64_sys_getppid"
# Memory that a change of rules frees is freed in a batch up to 5 s later (KFREE_DRAIN_JIFFIES,
# kernel/rcu/tree.c): before the window then, and not in it.
SETTLED_S = 6


class Row(NamedTuple):
    """What was counted, what it had to be, and by how much it may differ from that (a share)."""

    what: str
    counted: float
    known: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether it is within its tolerance."""
        return abs(self.counted - self.known) <= self.tolerance * abs(self.known)


class Connection(NamedTuple):
    """Of a connection: instructions, those in netfilter, bytes by string moves, and instructions of
    receive work that interrupts others, which are not the server's.
    """

    instructions: float
    netfilter: float
    string_bytes: float
    receive: float


def rows(boots: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    """The table, from what each boot counted."""
    for number, seen in enumerate(boots, 1):
        boot = f"boot {number}: "
        loop = seen["loop 2000000"] - seen["loop 1000000"]
        yield Row(f"{boot}1,000,000 more turns of a loop of two instructions", loop, 2e6, 0)
        moved = seen["copy bytes"]
        yield Row(f"{boot}bytes of a string instruction", moved, BYTES, 0)
        more = seen["getppid 3000"] - seen["getppid 2000"]
        known = seen["getppid 2000"] - seen["getppid 1000"]
        yield Row(f"{boot}1,000 more calls of getppid, twice the same", more, known, 0)
        none, few, many = (seen[f"{count} rules, netfilter"] for count in RULES)
        wanted = none + (few - none) * RULES[2] / RULES[1]
        yield Row(f"{boot}1,000 rules: ten times what 100 add (netfilter)", many, wanted, 0.01)
        rest = [seen[f"{count} rules, all"] - seen[f"{count} rules, netfilter"] for count in RULES]
        yield Row(f"{boot}1,000 rules: everything else stays", rest[2], rest[0], COUNTS_DIFFER)
    first, *others = boots
    for other in others:
        a, b = other["0 rules, all"], first["0 rules, all"]
        yield Row("one connection of the server, two boots", a, b, COUNTS_DIFFER)


@contextmanager
def counting(variant: Variant, folder: Path) -> Iterator[CountingSession]:
    """A session of a system in a guest; what is being done goes to standard error."""
    progress = Progress()
    progress.subscribe(lambda now: _say(now.doing))
    kind = server_class(variant.server)
    with open_counting_session(kind, variant.experiment, folder, progress) as session:
        yield session


def count_known(experiment: Path, folder: Path) -> dict[str, float]:
    """What one boot counts, by name; connections per connection."""
    plan = read_experiment(experiment).as_counted()
    part = (plan.counted or Counted()).model_copy(update={"modules": ["nf_tables"]})
    (variant, *_) = variants(plan.model_copy(update={"counted": part}))
    with counting(variant, folder) as session:
        found = dict(_programs(session))
        for count in RULES:
            _say(f"{count} rules of nftables")
            rules = "".join(RULE.format(number % 250 + 1) for number in range(count))
            text = CHAIN.format(rules=rules)
            session.guest.line.run(
                f"ip netns exec {SERVER_NAMESPACE} nft -f - <<'END'\nflush ruleset; {text}\nEND\n"
            )
            seen = connections(session)
            found[f"{count} rules, all"] = seen.instructions
            found[f"{count} rules, netfilter"] = seen.netfilter
    return found


def _say(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


def _programs(session: CountingSession) -> Iterator[tuple[str, float]]:
    for what in ("loop 1000000", "loop 2000000"):
        yield what, _user(_own(session, what)).instructions
    for what in (f"getppid {thousands}000" for thousands in (1, 2, 3)):
        found = _own(session, what)
        yield what, sum(c.instructions for w, c in found.items() if w.function == GETPPID)
    moved = [_user(_own(session, f"copy {count}")).string_bytes for count in (BYTES, 2 * BYTES)]
    yield "copy bytes", moved[1] - moved[0]


def _user(found: Mapping[Where, Count]) -> Count:
    user = [count for where, count in found.items() if where.mode == "user"]
    return Count(sum(c.instructions for c in user), sum(c.string_bytes for c in user))


def _own(session: CountingSession, what: str) -> dict[Where, Count]:
    """What the program of known work counts of its own, without what interrupts it."""
    program = known_program()
    session.guest.line.run(f"{program} {what}")  # its file is in memory then
    with session.guest.window() as path:
        session.guest.line.run(f"{program} {what}")
    found = read_counts(path, session.symbols())
    path.unlink()
    return {where: each for where, each in found.items() if where.task == program.name[:15]}


def connections(session: CountingSession) -> Connection:
    """Count a window of connections, when what was changed before has no effect to come."""
    session.guest.line.run(f"sleep {SETTLED_S}")
    part = session.experiment.counted
    assert part is not None
    load = CountedLoad(offered_cps=part.offered_cps, connections=part.connections)
    trial = Trial(session.experiment.servers[0], 0, 1, load)
    CountedConnections(session.experiment).offer(session, trial)
    counts = [each for each in trial.samples if "side" in each.labels]
    own = [each for each in counts if each.labels["side"] == "server"]
    receive = [each.value or 0.0 for each in counts if each.labels["section"] == "receive"]

    def sum_of(metric: Metric, *functions: str) -> float:
        wanted = [each for each in own if each.metric == metric.name]
        found = [
            each.value or 0.0 for each in wanted if each.labels["function"].startswith(functions)
        ]
        return sum(found) / load.completed

    return Connection(
        sum_of(COUNT_INSTRUCTIONS, ""),
        sum_of(COUNT_INSTRUCTIONS, *NETFILTER),
        sum_of(COUNT_STRING_BYTES, ""),
        sum(receive) / load.completed,
    )


def main() -> None:
    """Print the table."""
    file = experiment_file(Path(sys.argv[1] if len(sys.argv) > 1 else "nginx_kernel"))
    with ExitStack() as opened:
        boots = []
        for number in (1, 2):
            folder = Path(opened.enter_context(TemporaryDirectory()))
            boots.append(count_known(file, folder))
            _say(f"boot {number}: {boots[-1]}")
    wrong = False
    for row in rows(boots):
        wrong = wrong or not row.holds
        verdict = "holds" if row.holds else "WRONG"
        print(f"{verdict}  {row.counted:14,.1f}  known {row.known:14,.1f}  {row.what}")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
