"""Measures trials, each on a test bed of its own."""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from harness.bed.local import check_root
from harness.bed.signals import ending_signals_raise
from harness.campaign.attempts import check_carrier, storing
from harness.campaign.identity import profile_hashes
from harness.campaign.recorded import record_session, recorded
from harness.experiment.matrix import Variant
from harness.gate.trial import GateTrial, comparable, gate_trial
from harness.search.trials import TIME_WAIT_S, reset_server
from harness.session.load_trial import OVERHANG_S, offer_load, prepare_load
from harness.session.progress import Progress
from harness.session.session import Session, open_session
from harness.systems.registry import server_class
from stackcost.analysis.readings import Readings
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.store import Manifest, RunFolder

WARM_UP_S = 1.0  # above the client's TIME_WAIT
SUSTAIN_S = 5.0
LONGEST_SUSTAIN_S = 20.0
WANTED_S = 2.0  # of a trial, in which nothing slows the cores
RECENT = 4  # trials that tell how long the next one takes for that
SEARCH_SUSTAIN_S = 1.5
DRAIN_S = 0.6
FIRST_LOAD = 2000.0  # connections/s, where the look for the most that it completes begins
STEP = 1.6
# Of that most: it keeps up even while a neighbour of the machine slows its cores by a half, and no
# work is lost on connections that are sent again and again.
LOAD = 0.55
SETUP_S = 6.0
SEARCH = 0  # round of the trials that find the load


class Bench(Protocol):
    """Where the gate's trials come from. One of them measures at a time on a machine."""

    def setup(self) -> dict[str, Any]:
        """What the trials ran on, for baselines; without the server before the first."""

    def steady_load(self) -> float:
        """Connections/s that the server surely keeps up with, and that keep it busy."""

    def measure(self, offered_cps: float) -> GateTrial:
        """One trial."""

    def set_aside(self, which: Collection[int]) -> None:
        """Leave measured trials, counted from 0, out of what is stored as judged."""

    @property
    def folder(self) -> str:
        """Where all that was read is stored."""


@contextmanager
def open_bench(target: Variant, results: Path, command: list[str]) -> Iterator["LocalBench"]:
    """The bench of this machine. The caller holds the `RunLock`."""
    check_root()
    with ending_signals_raise():
        run = RunFolder.create(results, "gate")
        manifest = Manifest(
            run=run.name,
            command=command,
            experiment=target.experiment.model_dump(mode="json"),
            systems=[target.name],
            machine=describe_machine(),
            profile_hashes=profile_hashes(target.experiment),
        )
        with (
            recorded(run, manifest, "see them with: stackcost show"),
            Progress(0.0, Console(stderr=True)) as progress,
        ):
            yield LocalBench(target, run, manifest, progress)
        if manifest.state == "interrupted":
            raise KeyboardInterrupt  # it was recorded, and is for pytest, too


class LocalBench:
    """Trials on the test bed of this machine; all are stored as soon as they are over."""

    def __init__(self, target: Variant, run: RunFolder, manifest: Manifest, progress: Progress):
        self._target = target
        self._run = run
        self._manifest = manifest
        self._progress = progress
        self._numbers = itertools.count(1)
        self._rounds = itertools.count(1)
        self._measured: list[int] = []
        self._found: list[GateTrial] = []
        self._lengths: list[float] = []
        self._planned = 0.0
        self._passed = 0.0

    @property
    def folder(self) -> str:
        """The run's folder."""
        return str(self._run.path)

    def setup(self) -> dict[str, Any]:
        """Machine, plan, profile and server, without what says nothing to a reader."""
        machine = dict(self._manifest.machine)
        machine["kernel"] = {k: v for k, v in machine["kernel"].items() if k != "options"}
        return {
            "machine": machine,
            "experiment": self._manifest.experiment,
            "profiles": self._manifest.profile_hashes,
            "server": self._manifest.servers.get(self._target.name, {}),
        }

    def steady_load(self) -> float:
        """Offer more and more, until the server completes less than that; a share of the most.

        That need not be what it completed last: far beyond its ceiling a server spends its time on
        connections that fail.
        """
        with self._session("how much it takes") as session:
            load, most = FIRST_LOAD, 0.0
            while True:
                _, found = self._trial(session, SEARCH, load, SEARCH_SUSTAIN_S)
                most = max(most, found.completed_cps)
                if not found.kept_up:
                    return round(LOAD * most, -2)
                load *= STEP

    def measure(self, offered_cps: float) -> GateTrial:
        """A trial on a fresh test bed."""
        self._plan(SETUP_S)
        number = next(self._rounds)
        with self._session(f"round {number}") as session:
            self._pass(SETUP_S)
            sustain_s = next_sustain(self._found, self._lengths)
            stored, found = self._trial(session, number, offered_cps, sustain_s)
        self._measured.append(stored.number)
        self._found.append(found)
        self._lengths.append(sustain_s)
        return found

    def set_aside(self, which: Collection[int]) -> None:
        """Mark measured trials, counted from 0, as being in no figure."""
        numbers = [self._measured[each] for each in which]
        self._run.set_aside(numbers, "disturbed, another was made instead")

    @contextmanager
    def _session(self, what: str) -> Iterator[Session]:
        name = self._target.name
        folder = self._run.path / "logs" / re.sub(r"[^\w.-]+", "-", f"{what}-{name}")
        with open_session(
            server_class(self._target.server),
            self._target.experiment,
            folder,
            f"{name}, {what}",
            self._progress,
        ) as session:
            record_session(self._run, self._manifest, name, session)
            prepare_load(session)
            yield session

    def _trial(
        self, session: Session, number: int, offered_cps: float, sustain_s: float
    ) -> tuple[Trial, GateTrial]:
        """A trial as it is stored, and what is kept of it."""
        load = ConstantLoad(offered_cps=offered_cps)
        length = session.response_bytes
        trial = Trial(self._target.name, next(self._numbers), number, load, length)
        if number == SEARCH:
            trial.set_aside = "a trial of the search for the load"
        self._plan(_seconds_of_trial(sustain_s))
        times = {"warm_up_s": WARM_UP_S, "sustain_s": sustain_s, "drain_s": DRAIN_S}
        session.say(f"{offered_cps:,.0f} connections/s")
        with storing(self._run, session, trial):
            offer_load(session, trial, session.experiment.load.model_copy(update=times))
        check_carrier(trial)
        reset_server(session)
        self._pass(_seconds_of_trial(sustain_s))
        found = gate_trial(Readings(trial), session.experiment.cores.server)
        if found is None:
            raise StackcostError(
                f"{session.where}: the generator counted no connection of trial {trial.number}",
                f"see its log below {session.folder}",
            )
        return trial, found

    def _plan(self, seconds: float) -> None:
        self._planned += seconds
        self._progress.expect(self._planned)

    def _pass(self, seconds: float) -> None:
        self._passed += seconds
        self._progress.reach(self._passed)


def _seconds_of_trial(sustain_s: float) -> float:
    return WARM_UP_S + sustain_s + OVERHANG_S + TIME_WAIT_S + DRAIN_S


def next_sustain(found: Sequence[GateTrial], lengths: Sequence[float]) -> float:
    """Seconds that the next trial needs until nothing slowed the cores for `WANTED_S` in them.

    By the latest of the trials so far, which were as long as `lengths`. A short trial is often of
    no use on a busy host, and more of them, each on a test bed of its own, would take longer.
    """
    recent = found[-RECENT:]
    if all(trial.counted_s is None for trial in recent):
        return SUSTAIN_S  # they cannot be cut into slices
    free = sum(trial.counted_s or 0.0 for trial in comparable(recent, found))
    longest = LONGEST_SUSTAIN_S / WANTED_S
    needed = WANTED_S * min(longest, sum(lengths[-RECENT:]) / free if free else longest)
    return max(SUSTAIN_S, needed)
