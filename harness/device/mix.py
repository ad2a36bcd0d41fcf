"""Mixed traffic in rising steps: which application suffers first."""

import time
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from harness.collect.groups import Groups
from harness.device.settings import MIX_PROFILE, EventSettings
from harness.experiment.load_trial import end_traffic
from harness.experiment.path import count_frames, frames_since
from harness.experiment.session import Session
from harness.load.client import ONLY
from harness.model import Sample, Trial, Window

WHOLE = 0.99  # of a group's flows or datagrams
LAST_FLOWS_S = 12.0  # idle sessions stay for a while


class Step(BaseModel):
    """One load. `whole`: by template group, share of its connections that were established at the
    first attempt, or for UDP of its datagrams that were answered; None of a group without any.
    """

    model_config = ConfigDict(frozen=True)

    flows_per_second: float
    whole: dict[str, float | None]


class MixResult(BaseModel):
    """All steps. `first`: the group that was the first to be less than whole, and at which load."""

    model_config = ConfigDict(frozen=True)

    server: str
    steps: list[Step]
    first: str | None
    sentence: str


def run_mix(session: Session, trial: Trial, settings: EventSettings) -> None:
    """Offer the mix in steps; `trial.load["mix"]` has the steps and when each began."""
    client, groups, length = session.client, Groups(session.client, ONLY), settings.mix_step_s
    client.load_profile(MIX_PROFILE, {"cps": 1})
    frames = count_frames(session)
    session.begin_trial()
    samples: list[Sample] = []
    edges: list[float] = []
    trial.load["mix"] = {"loads": list(settings.mix_loads), "edges": edges}
    client.start(mult=settings.mix_loads[0], duration=length * len(settings.mix_loads))
    began = time.monotonic()
    try:
        for number, load in enumerate(settings.mix_loads):
            if number:
                client.update(load)
            session.read_edge()
            edges.append(time.monotonic())
            samples += groups.read()
            session.progress.pause(max(0.0, began + (number + 1) * length - time.monotonic()))
        edges.append(time.monotonic())
        samples += groups.read()
        trial.load["cut_flows"] = end_traffic(session, LAST_FLOWS_S)
        trial.phases["event"] = Window(began, session.read_edge())
        trial.load |= session.generator_report()
        trial.load["frames"] = frames_since(session, frames)
    finally:
        trial.samples = session.trial_samples() + samples


def mix_result(trial: Trial) -> MixResult:
    """What a trial of `run_mix` came to."""
    record = trial.load["mix"]
    # Counters of zero are not among the readings, and at the first edge all of them are.
    counts: list[Counts] = [{}, *(_counts(trial, at) for at in record["edges"][1:])]
    steps = [
        Step(flows_per_second=load, whole=_whole(before, after))
        for load, before, after in zip(record["loads"], counts, counts[1:], strict=False)
    ]
    first = next(
        (
            f"{group} at {step.flows_per_second:,.0f} flows/s"
            for step in steps
            for group, share in sorted(step.whole.items(), key=lambda each: each[1] or 1.0)
            if share is not None and share < WHOLE
        ),
        None,
    )
    return MixResult(
        server=trial.server, steps=steps, first=first, sentence=_sentence(trial, steps, first)
    )


def _sentence(trial: Trial, steps: Sequence[Step], first: str | None) -> str:
    if first is None:
        highest = steps[-1].flows_per_second if steps else 0.0
        return f"{trial.server}: every application was whole up to {highest:,.0f} mixed flows/s."
    return f"{trial.server}: of mixed traffic the first application to suffer was {first}."


Counts = dict[str, dict[str, float]]


def _counts(trial: Trial, edge: float) -> Counts:
    """Client counters by group at the first reading from `edge` on."""
    found: Counts = {}
    reading = min(
        (s.time for s in trial.samples if s.metric == "trex.group_counter" and s.time >= edge),
        default=None,
    )
    for sample in trial.samples:
        at_edge = sample.metric == "trex.group_counter" and sample.time == reading
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
