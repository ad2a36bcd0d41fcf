"""The closing sentence of `stackcost diff` claims no more than its comparisons do."""

from stackcost.analysis.between_runs import ASSUMED
from stackcost.analysis.comparison import Design, compare
from stackcost.analysis.series import Series
from stackcost.report.difference import Difference, sentence


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
