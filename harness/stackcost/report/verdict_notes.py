"""What a reader has to know of the verdicts of a run's factors: why there are none, or how many."""

from stackcost.analysis.significance import values_needed
from stackcost.analysis.summary import Summary
from stackcost.analysis.thresholds import RATE
from stackcost.report.words import count, pair

CANNOT_TELL = "cannot tell"  # verdict of too few rounds


def verdict_notes(summary: Summary) -> list[str]:
    """Sentences: how many rounds lack for a verdict; how sure many verdicts are together."""
    found = [each for each in summary.factors if each.comparison and each.ratio.median is not None]
    pairs = {pair(each.baseline, each.against) for each in found}
    judged = {each.name for each in found}
    needed = values_needed(RATE / max(1, len(judged)))
    rounds = min((len(each.ratio.values) for each in found), default=0)
    undecided = any(each.comparison and each.comparison.verdict == CANNOT_TELL for each in found)
    if undecided and 0 < rounds < needed:
        more = needed - rounds
        return [
            f"No verdict is possible: {count(rounds, 'round')}, {needed} can show a difference. "
            f"Set rounds: {needed} (now {rounds}), which takes about {1 + more / rounds:.1f} times "
            "as long. Or count instructions, which need no rounds: stackcost run EXPERIMENT "
            "--counted"
        ]
    if len(pairs) > 1 and any(each.comparison and each.comparison.differs for each in found):
        return [
            f"Each pair's verdicts are wrong in at most {RATE:.0%} of cases; of {len(pairs)} pairs "
            f"together at least one is in at most {min(1.0, RATE * len(pairs)):.0%}."
        ]
    return []
