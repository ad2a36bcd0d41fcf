"""Runs the gate's trials, each on a new test bed."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rich.console import Console

from stackcost.analysis.ceiling.ramp import rising
from stackcost.analysis.readings import Readings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.experiment.matrix import Variant
from stackcost.gate.trial import GateTrial, comparable, gate_trial
from stackcost.runs.campaign import Campaign
from stackcost.runs.identity import profile_hashes
from stackcost.runs.loads.constant import OVERHANG_S, offer_load, prepare_load
from stackcost.runs.loads.reading import reset_server
from stackcost.runs.loads.search import TIME_WAIT_S
from stackcost.runs.record import new_campaign
from stackcost.runs.turn import (
    OpenSession,
    PlannedTrial,
    PlannedTrials,
    Purpose,
    Result,
    Turn,
)
from stackcost.session.profile_session import SETUP_S, ProfileSession, open_profile_session

WARM_UP_S = 1.0  # above the client's TIME_WAIT
SUSTAIN_S = 5.0
LONGEST_SUSTAIN_S = 20.0
WANTED_S = 2.0  # seconds of a trial in which nothing slows the cores
RECENT = 4  # number of trials from which the length of the next one is estimated
SEARCH_SUSTAIN_S = 1.5
DRAIN_S = 0.6
FIRST_LOAD = 2000.0  # connections/s; the search for the highest completed rate begins here
STEP = 1.6
# Share of the highest completed rate. At this load the server keeps up even while another virtual
# machine on the host slows its cores by a half, and it spends no work on retransmitted connections.
LOAD = 0.55
SEARCH = 0  # round of the trials that find the load
JUDGED = Purpose(decides=True)
FOR_LOAD = Purpose(decides=True, set_aside="a trial of the search for the load")


class Bench(Protocol):
    """The source of the gate's trials. On a machine only one bench measures at a time."""

    def setup(self) -> dict[str, Any]:
        """The set-up of the trials, for baselines. Before the first trial it has no server."""

    def steady_load(self) -> float:
        """The load to offer in trials for the rate for whole cores, connections/s.

        It keeps the server busy, and the server certainly completes it. For a ceiling it is the
        load at which a search begins.
        """

    def measure(self, offered_cps: float) -> GateTrial:
        """Make one trial."""

    def set_aside(self, reasons: Mapping[int, str]) -> None:
        """Mark trials, counted from 0, with the reason why no figure uses them."""

    @property
    def folder(self) -> str:
        """The folder with all readings."""


Opened = TypeVar("Opened", bound="LocalBench")


@contextmanager
def open_bench(
    target: Variant,
    results: Path,
    command: list[str],
    make: "Callable[[Variant, Campaign], Opened]",
    experiment: dict[str, Any],
) -> Iterator["Opened"]:
    """The bench of this machine that `make` returns. The caller holds the `RunLock`.

    `experiment`: what the manifest says is measured.
    """
    with new_campaign(
        results,
        "gate",
        command,
        Console(stderr=True),
        "to see them, run: stackcost show",
        experiment=experiment,
        systems=[target.system],
        profile_hashes=profile_hashes(target.experiment),
    ) as campaign:
        yield make(target, campaign)
    if campaign.manifest.state == "interrupted":
        raise KeyboardInterrupt  # the run has recorded it; pytest needs it, too


class LocalBench:
    """Trials on the test bed of this machine; all are stored as soon as they are over."""

    def __init__(
        self,
        target: Variant,
        campaign: Campaign,
        open_session: OpenSession[ProfileSession] = open_profile_session,
    ):
        self._target = target
        self._campaign = campaign
        self._open = open_session
        self._measured: list[int] = []
        self._found: list[GateTrial] = []
        self._lengths: list[float] = []

    @property
    def folder(self) -> str:
        """The run's folder."""
        return str(self._campaign.folder.path)

    def setup(self) -> dict[str, Any]:
        """Machine, plan, profile and server, without details that do not help a reader."""
        manifest = self._campaign.manifest
        machine = dict(manifest.machine)
        machine["kernel"] = {k: v for k, v in machine["kernel"].items() if k != "options"}
        return {
            "machine": machine,
            "experiment": manifest.experiment,
            "profiles": manifest.profile_hashes,
            "server": manifest.servers.get(self._target.name, {}),
        }

    def steady_load(self) -> float:
        """Raise the load until the server completes less than offered; a share of its best rate.

        The best rate need not be the last one: far above its ceiling a server spends its time on
        connections that fail.
        """
        most = self._take("search for the load", self._rising)
        return round(LOAD * most, -2)

    def measure(self, offered_cps: float) -> GateTrial:
        """Make a trial on a new test bed."""
        number, sustain_s = len(self._found) + 1, next_sustain(self._found, self._lengths)

        def steps(session: ProfileSession) -> PlannedTrials[GateTrial]:
            prepare_load(session)
            stored, found = yield from self._trial(session, number, offered_cps, sustain_s)
            self._measured.append(stored.number)
            return found

        found = self._take(f"round {number}", steps, _seconds_of_trial(sustain_s))
        self._found.append(found)
        self._lengths.append(sustain_s)
        return found

    def set_aside(self, reasons: Mapping[int, str]) -> None:
        """Mark trials, counted from 0, with the reason why no figure uses them."""
        for at, reason in reasons.items():
            self._campaign.folder.set_aside([self._measured[at]], reason)

    def _take(
        self,
        what: str,
        steps: Callable[[ProfileSession], PlannedTrials[Result]],
        seconds: float = 0.0,
    ) -> Result:
        """Run a turn of the system and return its result. `seconds`: duration of its trials."""
        name = self._target.name
        turn = Turn(
            system=name,
            kind=self._target.kind,
            experiment=self._target.experiment,
            where=f"{name}, {what}",
            logs=f"{what}-{name}",
            steps=steps,
            open=self._open,
        )
        self._campaign.expect([SETUP_S + seconds])
        return self._campaign.take(turn)

    def _rising(self, session: ProfileSession) -> PlannedTrials[float]:
        """Raise the load step by step; returns the highest completed connections/s."""
        prepare_load(session)
        most = 0.0
        for load in rising(FIRST_LOAD, STEP, math.inf):
            _, found = yield from self._trial(session, SEARCH, load, SEARCH_SUSTAIN_S)
            most = max(most, found.completed_cps)
            if not found.kept_up:
                break
        return most

    def _trial(
        self, session: ProfileSession, number: int, offered_cps: float, sustain_s: float
    ) -> PlannedTrials[tuple[Trial, GateTrial]]:
        """Make one trial; returns the stored trial and the gate's short form of it."""
        times = {"warm_up_s": WARM_UP_S, "sustain_s": sustain_s, "drain_s": DRAIN_S}
        part = session.experiment.load.model_copy(update=times)
        load, length = ConstantLoad(offered_cps=offered_cps), session.response_bytes

        def make(trial: Trial) -> None:
            offer_load(session, trial, part)
            reset_server(session)

        (trial,) = yield PlannedTrial(
            trial=Trial(self._target.name, 0, number, load, length),
            make=make,
            words=f"{offered_cps:,.0f} connections/s",
            purpose=FOR_LOAD if number == SEARCH else JUDGED,
            seconds=_seconds_of_trial(sustain_s),
        )
        found = gate_trial(Readings(trial, session.experiment.cores.server))
        if found is None:
            raise StackcostError(
                f"the generator counted no connections in trial {trial.number}",
                f"see the generator's log in {session.folder}",
            )
        return trial, found


def _seconds_of_trial(sustain_s: float) -> float:
    return WARM_UP_S + sustain_s + OVERHANG_S + TIME_WAIT_S + DRAIN_S


def next_sustain(found: Sequence[GateTrial], lengths: Sequence[float]) -> float:
    """Length of the next trial, in seconds, so that `WANTED_S` of it will be undisturbed.

    It is estimated from the latest trials, whose lengths are `lengths`. On a busy host a short
    trial is often useless, and more trials, each on a new test bed, would take longer.
    """
    recent = found[-RECENT:]
    if all(trial.counted_s is None for trial in recent):
        return SUSTAIN_S  # they cannot be cut into slices
    free = sum(trial.counted_s or 0.0 for trial in comparable(recent, found))
    longest = LONGEST_SUSTAIN_S / WANTED_S
    needed = WANTED_S * min(longest, sum(lengths[-RECENT:]) / free if free else longest)
    return max(SUSTAIN_S, needed)
