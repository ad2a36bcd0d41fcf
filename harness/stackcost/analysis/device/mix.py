"""The result of mixed traffic at rising loads: which application has losses first."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from stackcost.contracts.load import MixedLoad
from stackcost.contracts.metrics import CONNTRACK_ENTRIES, CONNTRACK_LIMIT, TREX_GROUP_COUNTER
from stackcost.contracts.sample import Metric, Sample
from stackcost.contracts.trial import Trial

WHOLE = 0.99  # of a group's flows or datagrams
TABLE_FULL = 0.99
OFFERED = 0.98  # of a load, below which the generator did not offer it


@dataclass(frozen=True, slots=True)
class Step:
    """One load, in flows per second. `started`: flows per second that the generator started.

    `whole`: by template group, the share of connections that were established at the first SYN, or
    of UDP datagrams that were answered; None for a group without any. `table_full`: whether the
    device could not track another connection.
    """

    flows_per_second: float
    started: float
    table_full: bool
    whole: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class MixSteps:
    """All steps of a trial. `half`: the last one, at half the highest load without losses; None if
    the trial was cut short before it. `rising`: the others.
    """

    rising: Sequence[Step]
    half: Step | None

    @property
    def suffered(self) -> Step | None:
        """The first step with losses."""
        return next((step for step in self.rising if _suffering(step)), None)

    @property
    def whole(self) -> list[Step]:
        """The steps before the first one with losses that the generator really offered."""
        return _whole_steps(self.rising)


def mix_steps(trial: Trial) -> MixSteps:
    """The steps of a trial. If it was cut short, all have rising loads."""
    steps = steps_of(trial.load_of(MixedLoad), trial.samples)
    halved = len(steps) > 1 and steps[-1].flows_per_second < steps[-2].flows_per_second
    return MixSteps(steps[:-1], steps[-1]) if halved else MixSteps(steps, None)


def _offered(step: Step) -> bool:
    return step.started >= OFFERED * step.flows_per_second


def _suffering(step: Step) -> list[str]:
    """Groups with losses, the worst first."""
    shares = {group: share for group, share in step.whole.items() if share is not None}
    return sorted((group for group in shares if shares[group] < WHOLE), key=shares.__getitem__)


def _described(step: Step) -> str:
    of_these = "" if _offered(step) else f" requested, of which {step.started:,.0f} were started"
    return f"{_suffering(step)[0]} at {step.flows_per_second:,.0f} flows/s{of_these}"


def _whole_steps(rising: Sequence[Step]) -> list[Step]:
    return list(itertools.takewhile(lambda step: _offered(step) and not _suffering(step), rising))


def half_of(rising: Sequence[Step]) -> float:
    """Half of the highest lossless load, or of the lowest load."""
    whole = _whole_steps(rising)
    return (whole[-1] if whole else rising[0]).flows_per_second / 2


def mix_sentence(server: str, found: MixSteps) -> str:
    """Which application had losses first, and what happened at half of the load before that."""
    whole, suffered = found.whole, found.suffered
    highest = whole[-1].flows_per_second if whole else 0.0
    text = f"{server}: no application lost traffic up to {highest:,.0f} mixed flows/s"
    if suffered is None:
        return f"{text}, the highest load that the generator offered."
    if not whole:
        text = f"{server}: mixed traffic had losses at every load"
    text += f"; the first application with losses was {_described(suffered)}"
    if any(step.table_full for step in (*found.rising, found.half) if step):
        text += "; the table of tracked connections was full"
    if found.half:
        short = ", ".join(f"{name} {found.half.whole[name]:.2%}" for name in _suffering(found.half))
        then = f"only {short} got through" if short else "no application lost traffic"
        text += f"; offered again at {found.half.flows_per_second:,.0f} flows/s, {then}"
    return f"{text}."


def steps_of(mixed: MixedLoad, samples: Sequence[Sample]) -> list[Step]:
    """The steps of a trial, each with the counts of the generator and the device."""
    steps: list[Step] = []
    for watched in mixed.steps:
        since, until = watched.window.start, watched.window.end
        before, after = _counts(samples, since), _counts(samples, until)
        started = sum(
            after[group].get(counter, 0.0) - before.get(group, {}).get(counter, 0.0)
            for group in after
            for counter in ("tcps_connattempt", "udps_connects")
        )
        step = Step(
            flows_per_second=watched.flows_per_second,
            started=started / (until - since),
            table_full=_highest(samples, CONNTRACK_ENTRIES, since, until)
            >= TABLE_FULL * _highest(samples, CONNTRACK_LIMIT, since, until)
            > 0,
            whole=_whole(before, after),
        )
        steps.append(step)
    return steps


def _highest(samples: Sequence[Sample], metric: Metric, since: float, until: float) -> float:
    """The highest value of a gauge of the device; 0 if it has none."""
    inside = (s.value for s in samples if s.metric == metric.name and since <= s.time <= until)
    return max((value for value in inside if value is not None), default=0.0)


Counts = dict[str, dict[str, float]]


def _counts(samples: Sequence[Sample], edge: float) -> Counts:
    """Client counters by group at the first reading from `edge` on."""
    found: Counts = {}
    reading = min(
        (s.time for s in samples if s.metric == TREX_GROUP_COUNTER.name and s.time >= edge),
        default=None,
    )
    for sample in samples:
        at_edge = sample.metric == TREX_GROUP_COUNTER.name and sample.time == reading
        if at_edge and sample.labels["side"] == "client":
            group = found.setdefault(sample.labels["group"], {})
            group[sample.labels["counter"]] = sample.value or 0.0
    return found


def _whole(before: Counts, after: Counts) -> dict[str, float | None]:
    def share(group: str) -> float | None:
        def grown(counter: str) -> float:
            return after[group].get(counter, 0.0) - before.get(group, {}).get(counter, 0.0)

        if grown("udps_sndpkt"):
            return min(1.0, grown("udps_rcvpkt") / grown("udps_sndpkt"))
        if not grown("tcps_connattempt"):
            return None
        again = grown("tcps_rexmttimeo_syn")
        return max(0.0, 1.0 - again / grown("tcps_connattempt"))

    return {group: share(group) for group in after}
