"""A run that cannot have a verdict says what it lacks; many verdicts say how sure all are."""

from dataclasses import replace

from stackcost.analysis.summarise import summarise
from stackcost.contracts.system import System
from stackcost.report.verdict_notes import verdict_notes
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import load_trial

PEERS = ("astf-peer", "other-peer")


def notes(rounds: int, peers: tuple[str, ...]) -> list[str]:
    """Of nginx against each peer, which costs a tenth."""
    trials = [
        load_trial(name, number, number, microseconds=cost)
        for number in range(1, rounds + 1)
        for name, cost in (
            ("nginx/kernel", {"user": 10.0, "system": 40.0 + number, "irq": 1.0, "softirq": 49.0}),
            *((peer, {"busy": 10.0 + 0.1 * number}) for peer in peers),
        )
    ]
    pairs = tuple(("nginx/kernel", peer) for peer in peers)
    systems = tuple(map(System.of, ("nginx/kernel", *peers)))
    context = replace(CONTEXT, systems=systems, pairs=pairs)
    return verdict_notes(summarise(trials, context))


def test_too_few_rounds_say_how_many_lack_and_how_long_they_take() -> None:
    (note,) = notes(4, PEERS[:1])
    assert note.startswith("No verdict is possible: 4 rounds, ")
    assert "Set rounds: " in note and "times as long" in note
    needed = int(note.split(", ")[1].split()[0])
    assert notes(needed, PEERS[:1]) == [], "so many are enough"


def test_the_verdicts_of_several_pairs_say_how_sure_they_are_together() -> None:
    (note,) = notes(8, PEERS)
    assert "of 2 pairs together at least one is in at most 2%" in note
