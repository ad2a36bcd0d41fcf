"""What a verdict says: what it lacks, how sure many are, and no more than the comparisons do."""

from dataclasses import replace

from stackcost.analysis.comparing.between_runs import ASSUMED
from stackcost.analysis.comparing.comparison import Design, compare
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.context import Context
from stackcost.analysis.summarise import summarise
from stackcost.contracts.counts import FramesPassed
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.report.difference import Difference, sentence
from stackcost.report.verdict_notes import verdict_notes
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import load_trial

PEERS = ("astf-peer", "other-peer")


def made(rounds: int, peers: tuple[str, ...]) -> list[Trial]:
    """Of nginx and of each peer, which costs a tenth."""
    return [
        load_trial(name, number, number, microseconds=cost)
        for number in range(1, rounds + 1)
        for name, cost in (
            ("nginx/kernel", {"user": 10.0, "system": 40.0 + number, "irq": 1.0, "softirq": 49.0}),
            *((peer, {"busy": 10.0 + 0.1 * number}) for peer in peers),
        )
    ]


def context(peers: tuple[str, ...]) -> Context:
    """nginx against each of them."""
    pairs = tuple(("nginx/kernel", peer) for peer in peers)
    systems = tuple(map(System.of, ("nginx/kernel", *peers)))
    return replace(CONTEXT, systems=systems, pairs=pairs)


def notes(rounds: int, peers: tuple[str, ...]) -> list[str]:
    return verdict_notes(summarise(made(rounds, peers), context(peers)))


def test_too_few_rounds_say_how_many_lack_and_how_long_they_take() -> None:
    (note,) = notes(4, PEERS[:1])
    assert note.startswith("No verdict is possible: 4 rounds can be compared, ")
    assert "set rounds: " in note and "times as long" in note
    needed = int(note.split(", ")[1].split()[0])
    assert notes(needed, PEERS[:1]) == [], "so many are enough"


def test_the_verdicts_of_several_pairs_say_how_sure_they_are_together() -> None:
    (note,) = notes(8, PEERS)
    assert "of 2 pairs together at least one is in at most 2%" in note


def test_only_what_can_be_counted_is_to_be_counted_instead() -> None:
    """The path of a firewall was: a counted run refuses devices."""
    ((server,), (device,)) = notes(2, ("own/server",)), notes(2, ("dut/forwarding",))
    assert "--counted" in server and "--counted" not in device


def test_a_device_of_the_user_is_known_by_the_frames_that_were_counted_at_it() -> None:
    trials, own = made(2, ("router",)), context(("router",))
    for each in trials:
        if each.server == "router":
            each.load.frames = {"to servers": FramesPassed(4_000, 4_000, 4_000, 4_000)}
    (note,) = verdict_notes(summarise(trials, own))
    assert note.startswith("No verdict is possible") and "--counted" not in note


def test_rounds_without_a_cost_are_not_those_that_were_set() -> None:
    """Two rounds were made and one could be compared: it said "now 1", and "6.0 times as long"."""
    trials = [each for each in made(2, PEERS[:1]) if each.round == 1 or each.server != PEERS[0]]
    (note,) = verdict_notes(summarise(trials, context(PEERS[:1])))
    assert note.startswith("No verdict is possible: 1 round of 2 can be compared, ")
    assert "(now 2), which takes about 2.5 times as long" in note


def test_a_factor_is_what_its_own_costs_divide_to_when_a_round_has_no_pair() -> None:
    """It printed a cost of both rounds beside the ratio of one."""
    trials = [each for each in made(2, PEERS[:1]) if each.round == 2 or each.server != PEERS[0]]
    cpu = summarise(trials, context(PEERS[:1])).factors[0]
    assert (cpu.baseline_cost.rounds, cpu.against_cost.rounds) == ([2], [2])
    assert cpu.baseline_cost.median and cpu.against_cost.median and cpu.ratio.median
    divided = cpu.baseline_cost.median / cpu.against_cost.median
    assert abs(cpu.ratio.median / divided - 1) < 1e-9 and cpu.at.endswith(", 1 of 2 rounds")


def said(dearer: float, two_runs: bool) -> str:
    """Of B, which costs so much more than A, each of 12 rounds; of two runs or of one."""
    a, b = (
        Series.of({at: 100 * above + 0.1 * at for at in range(12)}, "us") for above in (1.0, dearer)
    )
    found = compare(a, b, Design(paired=not two_runs, between=ASSUMED if two_runs else None))
    apart = ASSUMED.words if two_runs else ""
    return sentence(
        Difference(a="a", b="b", apart=apart, comparisons=[found], flagged=(0, 0), machine=[])
    )


def test_between_two_runs_a_small_difference_has_its_size_and_what_to_do() -> None:
    text = said(1.03, two_runs=True)
    assert text.startswith("cannot tell: ") and "+3.0%" in text
    assert "may differ by 7.0%" in text and "measure both in one run" in text


def test_between_two_runs_an_answer_names_what_it_rests_on() -> None:
    for dearer, answer in ((1.2, "different: "), (1.0, "no difference shown ")):
        text = said(dearer, two_runs=True)
        assert text.startswith(answer) and "if runs of one system differ by at most" in text


def test_within_one_run_the_same_difference_is_called() -> None:
    text = said(1.03, two_runs=False)
    assert text.startswith("different: ") and "runs of one system" not in text
