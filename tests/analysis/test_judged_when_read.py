"""Flags and windows are found when a run is read: those of old runs, and by changed rules, too."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from stackcost.analysis import steadiness, thresholds
from stackcost.analysis.flags import flags_of, steadiness_of
from stackcost.analysis.readings import Readings
from stackcost.analysis.summary import Factor, Level, Memory, Summary, TrialRow
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.report.stored import summary_of
from stackcost.store import RunFolder, trial_lines
from tests.analysis.stored_runs import BOTH, JUDGED
from tests.analysis.trials import client_counters, counter, load_trial

CPUS = (1,)
SINCE_THEN = re.compile(r"^memory\..*slab|^memory\.(total|caches)")
# Name of a stored run, and trial: its generator's counters were read once more before they were
# reset for it. They counted as not read then.
COUNTED_SINCE = {("untyped", 20)}
# Wordings that changed since the stored runs were judged: old, new.
REWORDED = (
    ("started late by the schedule", "started later than scheduled"),
    ("past the ceiling at every load that both met", "every common load was above the ceiling"),
    ("no load at which both were measured", "both systems were not measured at the same load"),
    ("no round in which both were measured", "both systems were not measured in the same round"),
    ("its loop did work", "its loop was busy"),
    ("a part of polling peers' CPU time alone", "only part of polling peers' CPU time"),
    ("slower than they can be", "slower than at full speed"),
    (", but for ", ", except for "),
    (" (wanted 1.0 s)", " (1.0 s are needed)"),
    ("(it took ", "(it used "),
    ("had not ended when the drain was over", "had not ended at the end of the drain"),
    ("the other one of the pair is missing", "the other trial of the pair is missing"),
    ("x probed response length", "x response length"),
    ("idle, stolen time in them =", "idle (stolen time included) ="),
    ("requests by the server's own count", "requests counted by the server"),
)


def in_todays_words(stored: str) -> str:
    for old, new in REWORDED:
        stored = stored.replace(old, new)
    return re.sub(
        r"completed (\d+) connections/s of (\d+) offered",
        lambda found: "completed {:,} connections/s of {:,} offered".format(
            *map(int, found.groups())
        ),
        stored,
    )


def stored_lines(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "trials.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("run", BOTH, ids=lambda run: run.name)
def test_flags_of_an_old_run_are_those_that_it_stored(run: Path) -> None:
    stored = stored_lines(run)
    trials = RunFolder.open(run).trials()
    assert len(trials) == len(stored) and any(line["flags"] for line in stored)
    for trial, line in zip(trials, stored, strict=True):
        if (run.name, trial.number) in COUNTED_SINCE:
            continue
        seen = Readings(trial)
        then = map(in_todays_words, line["flags"])  # their order was another one
        assert sorted(flags_of(seen, CPUS)) == sorted(then)
        steady = steadiness_of(seen)
        assert (steady and steady._asdict()) == line["load"].get("steadiness"), trial.number
        assert seen.warm_up_s == line["load"].get("warm_up_found_s"), trial.number


@pytest.mark.parametrize("run", BOTH, ids=lambda run: run.name)
def test_the_answer_of_an_old_run_is_that_of_its_time(run: Path) -> None:
    then = Summary.model_validate_json(in_todays_words((run / "summary.json").read_text()))
    now = summary_of(RunFolder.open(run))
    for server, old in zip(now.servers, then.servers, strict=True):
        assert server.name == old.name and server.headline == old.headline
        for level, before in zip(server.levels, old.levels, strict=True):
            assert level.cores == _about(before.cores)
            assert _common(level, before) == _about(_known(before))
        for state, memory in old.memories.items():
            assert _common(server.memories[state], memory) == _about(_known(memory))
    bounds = {"with_kernel": Factor.model_fields["with_kernel"].default}
    factors = [each.model_copy(update=bounds) for each in now.factors if each.name == "cpu"]
    wanted = [each for each in then.factors if each.name == "cpu"]
    assert _plain(factors) == _about(_plain(wanted))
    assert [row.number for row in now.trials] == [row.number for row in then.trials]
    rows = [
        (_as_then(row), before)
        for row, before in zip(now.trials, then.trials, strict=True)
        if (run.name, row.number) not in COUNTED_SINCE
    ]
    before = [each.model_copy(update={"flags": sorted(each.flags)}) for _, each in rows]
    assert _plain([row for row, _ in rows]) == _about(_plain(before))


def _plain(parts: Sequence[BaseModel]) -> list[dict[str, Any]]:
    return [part.model_dump() for part in parts]


def _about(part: Any) -> Any:
    """Within 2 %: at that time the own time of ksoftirqd was in no cost."""
    if isinstance(part, dict):
        return {name: _about(each) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return type(part)(map(_about, part))
    return pytest.approx(part, rel=0.02) if isinstance(part, float) else part


def test_a_changed_limit_applies_to_an_old_run(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [Readings(trial) for trial in RunFolder.open(JUDGED).trials()]

    def stolen() -> list[int]:
        flags = {seen.trial.number: " ".join(flags_of(seen, CPUS)) for seen in trials}
        return [number for number, words in flags.items() if "stolen" in words]

    before = stolen()
    monkeypatch.setattr(thresholds, "STEAL_LIMIT", 1.0)
    assert stolen() == []
    monkeypatch.setattr(thresholds, "STEAL_LIMIT", 0.0)
    assert len(stolen()) > len(before)


def test_a_changed_rule_for_the_warm_up_moves_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = late_load()
    found = Readings(trial)
    assert found.warm_up_s == 4.0
    assert found.phases["sustain"] == Window(104.0, 120.0)
    assert found.phases["warm-up"] == Window(100.0, 104.0)
    monkeypatch.setattr(steadiness, "NEGLIGIBLE", 2.0)  # any rate is as steady as any other
    assert Readings(trial).warm_up_s == 0.0
    assert Readings(trial).phases == trial.phases, "the window is never earlier than planned"


def test_what_is_stored_is_what_was_seen() -> None:
    trial = late_load()
    assert isinstance(trial.load, ConstantLoad)
    trial.load.client = client_counters(15_000, 15_000 * 33_000, tcps_conndrops=3)
    assert flags_of(Readings(trial), CPUS)
    line = trial_lines.encode(trial)
    stored = json.loads(line)
    assert "flags" not in stored and not {"warm_up_found_s", "steadiness"} & set(stored["load"])
    assert stored["phases"]["sustain"] == {"start": 102.0, "end": 120.0}
    assert trial_lines.decode(line).phases == trial.phases


def test_a_run_that_went_on_holds_lines_of_two_formats(tmp_path: Path) -> None:
    run = RunFolder.open(Path(shutil.copytree(JUDGED, tmp_path / "run")))
    count, trial = run.count(), load_trial(number=99)
    run.add_trial(trial)
    formats = [line["format"] for line in stored_lines(run.path)]
    assert formats == ["stackcost-trial/2"] * count + [trial_lines.FORMAT]
    assert [len(run.stored().trials), run.stored().damaged] == [count + 1, []]


def _as_then(row: TrialRow) -> TrialRow:
    """Without what summaries of that time did not have."""
    new = ("warm_up_s", "variation", "drift", "correlation")
    row = row.model_copy(update=dict.fromkeys(new))
    return row.model_copy(update={"failures": [], "flags": sorted(row.flags)})


def _known(part: Level | Memory) -> dict[str, list[float]]:
    """The values of each figure that is comparable: dentries of no socket were counted then."""
    return {
        name: spread.values
        for name, spread in part.figures.items()
        if spread.values and not SINCE_THEN.search(name)
    }


def _common(part: Level | Memory, old: Level | Memory) -> dict[str, list[float]]:
    return {name: part[name].values for name in _known(old)}


def late_load() -> Trial:
    """A load planned to warm up for 2 s, of which the rate rises for 4 s and is even after."""
    trial = load_trial(offered=1000)
    assert isinstance(trial.load, ConstantLoad)
    trial.phases = {"warm-up": Window(100.0, 102.0), "sustain": Window(102.0, 120.0)}
    labels = {"engine": "generator", "side": "client", "counter": "tcps_closed"}
    trial.samples = [each for each in trial.samples if each.labels != labels]
    (first, *_) = counter("trex.counter", 0.0, labels)
    total = 0.0
    for second in range(21):
        trial.samples.append(first._replace(time=100.0 + second, value=total))
        total += min(1000.0, 200.0 * (second + 1))
    return trial
