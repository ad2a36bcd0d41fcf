"""What a reader has to know of the verdicts of a run's factors: why there are none, or how many."""

from stackcost.analysis.comparing.significance import values_needed
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.thresholds import RATE
from stackcost.contracts.words import count
from stackcost.report.peer_parts import peer_sentences
from stackcost.report.words import pair

CANNOT_TELL = "cannot tell"  # verdict of too few rounds


def verdict_notes(summary: Summary) -> list[str]:
    """Sentences: how many rounds lack for a verdict; how sure many verdicts are together."""
    found = [each for each in summary.factors if each.ratio.median is not None]
    pairs = {pair(each.baseline, each.against) for each in found}
    judged = {each.name for each in found}
    needed = values_needed(RATE / max(1, len(judged)))
    rounds = min((len(each.ratio.values) for each in found), default=0)
    undecided = any(each.comparison.verdict == CANNOT_TELL for each in found)
    if undecided and 0 < rounds < needed:
        made = max((row.round for row in summary.trials), default=rounds)
        compared = f" of {made}" if made > rounds else ""
        told = (
            f"No verdict is possible: {count(rounds, 'round')}{compared} can be compared, {needed} "
            "can show a difference."
        )
        if summary.state == "interrupted":
            return [f"{told} Finish the run first, by stackcost run --resume RUN."]
        longer = f", which takes about {needed / made:.1f} times as long" if needed > made else ""
        told += f" In the experiment's file set rounds: {needed} (now {made}){longer}."
        systems = {name for each in found for name in (each.baseline, each.against)}
        devices = any(each.is_device for each in summary.servers if each.name in systems)
        if not (devices or peer_sentences(summary)):  # neither is counted as it is timed
            told += (
                " Or count instructions, which need no rounds: stackcost run EXPERIMENT --counted"
            )
        return [told]
    if len(pairs) > 1 and any(each.comparison.differs for each in found):
        return [
            f"Each pair's verdicts are wrong in at most {RATE:.0%} of cases; of {len(pairs)} pairs "
            f"together at least one is in at most {min(1.0, RATE * len(pairs)):.0%}."
        ]
    return []
