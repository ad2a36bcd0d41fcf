"""Every kind of load comes back as it was stored; lines of older versions become the same types."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stackcost.contracts.counts import (
    Carrier,
    FramesPassed,
    Limits,
    Schedule,
    Usage,
)
from stackcost.contracts.event_settings import QUICK
from stackcost.contracts.load import (
    ConstantLoad,
    DeviceEvent,
    EventTimes,
    HeldFlows,
    HttpClients,
    HttpCounts,
    HttpSettings,
    Load,
    Loss,
    MixedLoad,
    MixStep,
    SearchStep,
)
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.store import Manifest, RunFolder, trial_lines

# A line of each kind as the last version before `stackcost-trial/2` wrote it, on a real test bed.
UNTYPED = Path(__file__).resolve().parents[1] / "fixtures" / "trials" / "untyped.jsonl"

LIMITS = Limits(
    open_files={"worker-0": Usage(5, 10)},
    accept_queue=Usage(1, 511),
    tracked_connections_limit=1000,
    refused={"worker_connections": 1},
    no_accept_queue="nobody listens",
)
TRAFFIC: dict[str, Any] = {
    "client": {"tcps_connects": 7.0},
    "schedule": Schedule(intended=9, opened=8, late=2, unsent=1),
    "cut_flows": 3,
    "frames": {"to servers": FramesPassed(4, 3, 2, 1), "to clients": FramesPassed(8, 7, 6, 5)},
    "limits": LIMITS,
    "overrun_s": 0.25,
}
RATE = ConstantLoad(
    offered_cps=500.0,
    requests_per_connection=20,
    latency={"web": {"connect": "HIST"}},
    server_requests=70,
    **TRAFFIC,
)
HOLD = HeldFlows(open_flows=50, state="tracked", held_flows=49.0, **TRAFFIC)
LOADS: list[Load] = [
    RATE,
    HOLD,
    HttpClients(
        test="tps",
        offered_rps=200.0,
        settings=HttpSettings("wrk", 2, 4, [1000, 2000], True, False, "latency", True),
        counted=HttpCounts(99, 9.9, 8e6, {"read": 1}, 2, "as made", {"user": 1.0, "system": 2.0}),
        latency={"": {"request": "HIST"}},
        processes=[7, 8],
        others=[1],
        ended_early=True,
        server_requests=100,
        limits=LIMITS,
        carrier=Carrier("onload-wrk", "kernel", "no stack", {"before": {"objections": ["x"]}}),
    ),
    SearchStep(
        of="requests",
        load=10_000.0,
        duration_s=1.0,
        offered=RATE,
        repeat=1,
        twin=True,
        loss=Loss(200, 3, {"SYN sent again": 3}, ["stolen"]),
    ),
    SearchStep(of="flows", load=50.0, duration_s=1.0, offered=HOLD),
    DeviceEvent(event="cut", settings=QUICK, course=EventTimes(5.0, 100, 30, 7.0), **TRAFFIC),
    MixedLoad(steps=[MixStep(200.0, Window(1.0, 2.0)), MixStep(100.0, Window(3.0, 4.0))]),
]


def trial_of(load: Load) -> Trial:
    return Trial(
        server="nginx/kernel",
        number=3,
        round=2,
        load=load,
        response_bytes=1000,
        phases={"sustain": Window(10.0, 11.0)},
        before={"cached_bytes": 9.0},
        suspended_s=0.5,
        carrier=Carrier("kernel", "kernel"),
        set_aside="cut short",
    )


def lines() -> list[bytes]:
    return UNTYPED.read_bytes().splitlines()


def by_kind() -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for line in lines():
        trial = trial_lines.decode(line)
        found.setdefault(trial.load.kind, []).append(trial)
    return found


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.kind)
def test_each_kind_comes_back_as_it_was_stored(load: Load) -> None:
    stored = trial_of(load)
    line = trial_lines.encode(stored)
    assert json.loads(line)["load"]["kind"] == load.kind
    assert trial_lines.decode(line) == stored


def test_there_is_a_line_of_every_kind_and_each_is_read() -> None:
    kinds = {kind: len(trials) for kind, trials in by_kind().items()}
    assert kinds == {"load": 1, "hold": 2, "http": 2, "search": 3, "event": 1, "mix": 1}
    assert set(kinds) == {load.kind for load in LOADS}


def test_what_was_asked_for_is_in_the_type_of_its_kind() -> None:
    found = by_kind()
    assert [trial.offered_cps for trial in found["load"]] == [960.0]
    assert [(t.load.open_flows, t.load.state) for t in found["hold"]] == [
        (50, "established"),
        (50, "half-open"),
    ]
    assert [(t.load.test, t.load.offered_rps, t.offered_cps) for t in found["http"]] == [
        ("first", None, 0.0),
        ("third", 200.0, 200.0),
    ]
    steps = [(t.load.of, t.load.load, t.traffic.kind, t.offered_cps) for t in found["search"]]
    assert steps == [
        ("connections", 500.0, "load", 500.0),
        ("requests", 2000.0, "load", 100.0),
        ("flows", 300.0, "hold", 0.0),
    ]
    (cut,), (mix,) = found["event"], found["mix"]
    assert cut.load.event == "cut" and cut.load.settings.established == 20
    assert [step.flows_per_second for step in mix.load.steps] == [200.0, 100.0]
    assert all(trial.round == 1 for trials in found.values() for trial in trials)


@pytest.mark.parametrize("line", lines(), ids=lambda line: str(json.loads(line)["number"]))
def test_nothing_that_an_older_version_stored_is_lost(line: bytes) -> None:
    new = Counter(value for _, value in _leaves(json.loads(_again(line)), ""))
    old = _leaves(json.loads(line), "")
    said_twice = {"load.http.processes"}  # in its settings, too
    judged = ("flags", "load.steadiness.", "load.warm_up_found_s")  # found again when it is read
    wanted = [
        (place, value)
        for place, value in old
        if place not in said_twice
        and not place.startswith(judged)
        and (place, value) != ("offered_cps", 0.0)  # there was no rate
    ]
    assert not [each for each in wanted if each[1] not in new]
    assert Counter(value for _, value in wanted) - new == Counter()


def test_a_trial_that_was_cut_short_is_read_as_far_as_it_came() -> None:
    old = {"of": "connections", "load": 500.0, "duration_s": 1.0, "repeat": 0, "twin": False}
    line = {"server": "a", "number": 1, "offered_cps": 500.0, "set_aside": "cut short"}
    load: dict[str, Any] = {"round": 1, "requests_per_connection": 1, "ceiling": old}
    step = trial_lines.decode(json.dumps(line | {"load": load}).encode()).load
    assert step == SearchStep(
        of="connections", load=500.0, duration_s=1.0, offered=ConstantLoad(offered_cps=500.0)
    )
    load = {"round": 1, "mix": {"loads": [200.0, 400.0], "spans": [[1.0, 2.0]]}}
    mixed = trial_lines.decode(json.dumps(line | {"load": load}).encode()).load
    assert mixed == MixedLoad(steps=[MixStep(200.0, Window(1.0, 2.0))])


def test_a_combination_that_cannot_be_is_refused() -> None:
    with pytest.raises(TypeError, match="offered_cps"):
        HeldFlows(open_flows=50, offered_cps=500.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="open_flows"):
        ConstantLoad(offered_cps=500.0, open_flows=50)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="a search of flows does not offer a load"):
        SearchStep(of="flows", load=500.0, duration_s=1.0, offered=RATE)
    with pytest.raises(ValueError, match="a search of requests does not offer a hold"):
        SearchStep(of="requests", load=500.0, duration_s=1.0, offered=HOLD)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "what"}, "Input tag 'what' found using 'kind'"),
        ({"kind": "hold", "open_flows": 50, "offered_cps": 500.0}, "load.hold.offered_cps"),
        ({"kind": "load"}, "load.load.offered_cps: Field required"),
        (
            {"kind": "search", "of": "flows", "load": 1, "duration_s": 1}
            | {"offered": {"kind": "load", "offered_cps": 1}},
            "a search of flows does not offer a load",
        ),
    ],
)
def test_a_stored_load_that_cannot_be_is_reported_and_the_others_count(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    run = RunFolder.create(tmp_path, "compare")
    run.add_trial(trial_of(RATE))
    path = run.path / "trials.jsonl"
    record = json.loads(path.read_bytes()) | {"load": change, "number": 4}
    path.write_bytes(path.read_bytes() + json.dumps(record).encode() + b"\n")
    stored = run.stored()
    assert [trial.number for trial in stored.trials] == [3]
    (said,) = stored.damaged
    assert said.startswith("line 2 of trials.jsonl: ") and told in said


def test_a_line_of_a_newer_format_is_reported() -> None:
    record = json.loads(trial_lines.encode(trial_of(RATE))) | {"format": "stackcost-trial/4"}
    with pytest.raises(ValueError, match="newer format stackcost-trial/4; this version reads up"):
        trial_lines.decode(json.dumps(record).encode())


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_run_of_an_older_format_is_read_and_goes_on(tmp_path: Path, number: int) -> None:
    run = RunFolder.create(tmp_path, "old")
    manifest = json.loads(Manifest(run=run.name).model_dump_json())
    manifest["format"] = f"stackcost-manifest/{number}"
    (run.path / "manifest.json").write_text(json.dumps(manifest))
    (run.path / "trials.jsonl").write_bytes(UNTYPED.read_bytes())
    assert run.manifest().format == "stackcost-manifest/4"
    assert run.count() == len(lines())
    run.set_aside([9], "its turn was cut short, and run again")
    last = trial_of(HOLD)
    last.number = 11
    run.add_trial(last)
    *old, nine, ten, new = (run.path / "trials.jsonl").read_bytes().splitlines()
    assert [*old, ten] == [*lines()[:8], lines()[9]], "a line that is not touched stays as it is"
    assert json.loads(nine) == json.loads(lines()[8]) | {
        "set_aside": "its turn was cut short, and run again"
    }
    assert trial_lines.decode(new) == last
    assert [trial.number for trial in run.stored().trials] == list(range(1, 12))


def _again(line: bytes) -> bytes:
    return trial_lines.encode(trial_lines.decode(line))


def _leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    """All that is stored, with its place; without what is not known."""
    if isinstance(value, dict):
        places = [(f"{path}.{key}" if path else str(key), each) for key, each in value.items()]
    elif isinstance(value, list):
        places = [(path, each) for each in value]
    else:
        return [] if value is None else [(path, value)]
    return [leaf for place, each in places for leaf in _leaves(each, place)]
