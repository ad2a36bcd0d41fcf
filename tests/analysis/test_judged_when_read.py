"""Flags and windows are found when a run is read: changed rules apply to stored runs, too."""

import json
from pathlib import Path

import pytest

from stackcost.analysis import steadiness
from stackcost.analysis.readings import Readings
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial import thresholds
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.report.results.stored import summary_of
from stackcost.store import RunFolder, trial_lines
from tests.analysis.stored_runs import INTERRUPTED, SMALL
from tests.analysis.trials import client_counters, counter, load_trial

CPUS = (1,)


def rounded(text: str) -> Summary:
    """A summary without its last digits: Python adds floats more exactly from 3.12 on."""
    return Summary.model_validate(
        json.loads(text, parse_float=lambda each: float(f"{float(each):.9g}"))
    )


@pytest.mark.parametrize("run", [INTERRUPTED, SMALL], ids=lambda run: run.name)
def test_the_answer_of_a_stored_run_is_the_one_beside_it(run: Path) -> None:
    then = rounded((run / "summary.json").read_text())
    now = rounded(summary_of(RunFolder.open(run)).model_dump_json())
    assert now.factors == then.factors and now.trials == then.trials
    assert any(row.flags for row in now.trials)
    for server, before in zip(now.servers, then.servers, strict=True):
        assert (server.name, server.headline) == (before.name, before.headline)
        parts = zip(server.levels, before.levels, strict=True)
        for part, old in (*parts, *((server.memories[s], m) for s, m in before.memories.items())):
            assert {name: part.figures[name] for name in old.figures} == old.figures


def test_a_changed_limit_applies_to_a_stored_run(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [Readings(trial, CPUS) for trial in RunFolder.open(SMALL).trials()]

    def stolen() -> list[int]:
        flags = {seen.trial.number: " ".join(flags_of(seen)) for seen in trials}
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
    assert flags_of(Readings(trial, CPUS))
    line = trial_lines.encode(trial)
    stored = json.loads(line)
    assert "flags" not in stored and not {"warm_up_found_s", "steadiness"} & set(stored["load"])
    assert stored["phases"]["sustain"] == {"start": 102.0, "end": 120.0}
    assert trial_lines.decode(line).phases == trial.phases


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
